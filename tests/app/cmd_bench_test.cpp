#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Bench, RefusesAModelThatItDoesNotList) {
    Program program({"bench", "--all", "--model", "perceptron"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("--model: perceptron: use one of mlp lenet"));
}

/// One test, because each call measures for seconds.
TEST(Bench, SaysOfEachPrecisionWhetherItPaysAndItsLargestBatchWithinAMemoryLimit) {
    Program program({"bench", "--model", "mlp", "--memory", "4MB", "--json"});
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    std::vector<json> rows;
    for (const auto& line : program.output()) rows.push_back(json::parse(line));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].at("precision"), "amp-bf16");
    EXPECT_EQ(rows[1].at("precision"), "amp-fp16");
    for (const json& row : rows) {
        EXPECT_EQ(row.at("event"), "pay_off");
        EXPECT_EQ(row.at("model"), "mlp");
        EXPECT_GT(row.at("speed_up"), 0);
        EXPECT_THAT(row.at("why").get<std::string>(), HasSubstr("amp-"));
        EXPECT_EQ(row.at("batch_memory"), 4'000'000);
        EXPECT_GT(row.at("fp32_largest_batch"), 32);
        EXPECT_GT(row.at("largest_batch"), 32);
        EXPECT_EQ(row.at("largest_batch_at_least"), false);
    }
    Program table({"bench", "--all", "--model", "mlp", "--memory", "4MB"});
    table.finish();
    EXPECT_THAT(table.output_text(), HasSubstr("largest batch in 4.00 MB"));
}

const std::vector<std::string> profiled = {
    "bench", "--steps",    "1",     "--blocks",     "1",        "--warm-up", "1",
    "--set", "device=cpu", "--set", "batch_size=8", "--profile"};

TEST(Bench, ListsThePlansOfAStepAndTheWorstFirst) {
    auto arguments = profiled;
    arguments.push_back("--json");
    Program program(arguments);
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    ASSERT_EQ(program.output().size(), 1u);
    const json plans = json::parse(program.output()[0]).at("profile").at("plans");
    ASSERT_GE(plans.size(), 3u);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        EXPECT_GT(plans[i].at("us"), 0);
        EXPECT_GT(plans[i].at("flops_per_s"), 0);
        EXPECT_TRUE(plans[i].contains("engine"));
        EXPECT_TRUE(plans[i].contains("peak_share"));
        if (i > 0) {
            EXPECT_LE(plans[i].at("lost_us"), plans[i - 1].at("lost_us"));
        }
    }
    Program table(profiled);
    table.finish();
    EXPECT_THAT(table.output_text(), HasSubstr("ms a step"));
    EXPECT_THAT(table.output_text(), HasSubstr("Plans of an eager step on cpu"));
    EXPECT_THAT(table.output_text(), HasSubstr("of peak"));
}

TEST(Bench, RefusesAProfileOfWhatHasManySteps) {
    for (const char* other : {"--paced", "--find-batch", "--all", "--pays"}) {
        auto arguments = profiled;
        arguments.emplace_back(other);
        Program program(arguments);
        program.finish();
        EXPECT_EQ(program.exit_code(), 2) << other;
    }
}

/// A model of one hidden unit. Data that are not there have no samples to end the search before.
TEST(Bench, ALargestBatchAtTheEndOfTheSearchIsALowerBound) {
    std::vector<std::string> arguments = {"bench", "--find-batch"};
    for (const char* setting :
         {"device=cpu", "precision.preset=fp32", "dataset.kind=csv", "model.kind=mlp",
          "model.options.hidden=[1]"})
        arguments.insert(arguments.end(), {"--set", setting});
    Program text(arguments);
    text.finish();
    ASSERT_EQ(text.exit_code(), 0) << text.errors();
    EXPECT_THAT(text.output().back(), HasSubstr("mlp, fp32: largest batch ≥ 1048576 in "));
    EXPECT_THAT(text.output().back(), HasSubstr("; larger ones are not tried)"));
    arguments.push_back("--json");
    Program program(arguments);
    program.finish();
    ASSERT_EQ(program.output().size(), 1u) << program.errors();
    const json found = json::parse(program.output()[0]);
    EXPECT_EQ(found.at("batch_size"), 1'048'576);
    EXPECT_EQ(found.at("at_least"), true);
    EXPECT_EQ(found.at("too_large"), 0);
}

TEST(Bench, RefusesAMemoryLimitThatIsNoSize) {
    Program program({"bench", "--all", "--model", "mlp", "--memory", "plenty"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("--memory: plenty: use a size such as 500MB"));
}

}  // namespace
}  // namespace app
