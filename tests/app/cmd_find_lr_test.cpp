#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"

namespace app {
namespace {

TEST(FindLr, PrintsTheCurveAndTheSuggestionsAsOneObjectAndKeepsNoRun) {
    Program program(spirals("find-lr", {"--steps", "40"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    ASSERT_EQ(program.output().size(), 1u);
    const auto found = nlohmann::json::parse(program.output().front());
    EXPECT_EQ(found.at("event"), "find_lr");
    ASSERT_GT(found.at("points").size(), 20u);
    const auto& first = found.at("points").at(0);
    EXPECT_NEAR(first.at("lr").get<double>(), 1e-7, 1e-14);
    EXPECT_TRUE(first.at("loss").is_number() && first.at("smoothed").is_number());
    EXPECT_TRUE(found.contains("valley") && found.contains("steepest"));
    EXPECT_FALSE(std::filesystem::exists(program.runs()));
}

TEST(FindLr, IsATableOfAtMostTwentyOneRatesForPeople) {
    Program program({"find-lr", "--set", "dataset.kind=spirals", "--set", "model.kind=mlp"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    ASSERT_GT(program.output().size(), 10u);
    EXPECT_LE(program.output().size(), 1u + 21 + 1 + 2);
    EXPECT_THAT(program.output().front(), testing::StartsWith("rate"));
    EXPECT_THAT(program.output_text(), testing::HasSubstr("\nvalley "));
    EXPECT_THAT(program.output_text(), testing::HasSubstr("\nsteepest "));
}

TEST(FindLr, RefusesBadSettings) {
    Program program(spirals("find-lr", {"--set", "batch_size=0"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), testing::HasSubstr("batch_size: 0"));
}

}  // namespace
}  // namespace app
