#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"

namespace app {
namespace {

using nlohmann::json;

/// The last line of a program's output.
json result_of(const Program& program) { return json::parse(program.output().back()); }

TEST(Compare, EndsItsJsonWithTableAndVerdict) {
    Program program(spirals("compare", {"--set", "max_steps=12", "--set", "device=cpu"}));
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    const json result = result_of(program);
    ASSERT_EQ(result.at("event"), "comparison");
    EXPECT_EQ(result.at("speed_unit"), "samples/s");
    ASSERT_EQ(result.at("table").size(), 2u);
    ASSERT_EQ(result.at("verdicts").size(), 1u);
    const json& verdict = result.at("verdicts")[0];
    EXPECT_EQ(verdict.at("baseline"), "fp32");
    EXPECT_EQ(verdict.at("precision"), "amp-fp16");
    EXPECT_THAT((std::vector<std::string>{"neutral", "good", "caution", "bad"}),
                testing::Contains(verdict.at("tone").get<std::string>()));
    EXPECT_FALSE(verdict.at("headline").get<std::string>().empty());
    // The table has the figures of the runs under the same names.
    const auto ends = events_of(program, "done");
    ASSERT_EQ(ends.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        const json& row = result.at("table")[i];
        const auto end = std::find_if(ends.begin(), ends.end(), [&](const json& each) {
            return each.at("samples_per_s") == row.at("samples_per_s");
        });
        ASSERT_NE(end, ends.end()) << row.dump();
        for (const char* key : {"peak_bytes", "updates", "skipped"})
            EXPECT_EQ(row.at(key).get<double>(), end->at(key).get<double>()) << key;
        EXPECT_EQ(row.at("last_test_loss"), end->at("test_loss"));
    }
}

TEST(Compare, KeepsAStaticScaleAndSaysWhatItLeavesOut) {
    Program program(spirals("compare", {"--set", "max_steps=2", "--set", "device=cpu", "--set",
                                        "precision.scaler=static", "--set",
                                        "precision.weights=fp32"}));
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(program.errors(),
                testing::HasSubstr("precision.weights plays no part: the compared precisions"));
    EXPECT_THAT(program.errors(), testing::Not(testing::HasSubstr("precision.scaler")));
    std::vector<std::string> scalers;
    for (const json& started : events_of(program, "start"))
        scalers.push_back(started.at("config").at("precision").value("scaler", "as the preset"));
    EXPECT_THAT(scalers, testing::UnorderedElementsAre("as the preset", "static"));
}

TEST(Compare, ASweepAndATwinEndWithTheirVerdictsToo) {
    Program sweep(spirals("sweep", {"--grid", "optimizer.lr=0.1,0.01", "--set", "max_steps=4"}));
    sweep.finish();
    ASSERT_EQ(sweep.exit_code(), 0) << sweep.errors();
    EXPECT_EQ(events_of(sweep, "sweep").size(), 2u);
    const json result = result_of(sweep);
    EXPECT_EQ(result.at("event"), "sweep_verdict");
    EXPECT_THAT(result.at("headline").get<std::string>(), testing::StartsWith("Best: "));

    Program twin(spirals("twin", {"--set", "max_steps=12"}));
    twin.finish();
    ASSERT_EQ(twin.exit_code(), 0) << twin.errors();
    const json both = result_of(twin);
    EXPECT_EQ(both.at("event"), "twin");
    EXPECT_FALSE(both.at("layers").empty());
    EXPECT_TRUE(both.at("verdict").at("tone").is_string());
}

}  // namespace
}  // namespace app
