#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Bench, SaysOfEachPrecisionWhetherItPaysAndWhy) {
    Program program({"bench", "--model", "mlp", "--json"});
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
    }
}

TEST(Bench, RefusesAModelThatItDoesNotList) {
    Program program({"bench", "--all", "--model", "perceptron"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("--model: perceptron: use one of mlp lenet"));
}

TEST(Bench, FindsTheLargestBatchOfEachPrecisionWithinAMemoryLimit) {
    Program program({"bench", "--all", "--model", "mlp", "--memory", "4MB", "--json"});
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    ASSERT_EQ(program.output().size(), 2u);
    for (const auto& line : program.output()) {
        const json row = json::parse(line);
        EXPECT_EQ(row.at("batch_memory"), 4'000'000);
        EXPECT_GT(row.at("fp32_largest_batch"), 32);
        EXPECT_GT(row.at("largest_batch"), 32);
    }
    Program table({"bench", "--all", "--model", "mlp", "--memory", "4MB"});
    table.finish();
    EXPECT_THAT(table.output_text(), HasSubstr("largest batch in 4 MB"));
}

TEST(Bench, RefusesAMemoryLimitThatIsNoSize) {
    Program program({"bench", "--all", "--model", "mlp", "--memory", "plenty"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("--memory: plenty: use a size such as 500MB"));
}

}  // namespace
}  // namespace app
