#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"

namespace app {
namespace {

using testing::HasSubstr;

TEST(XrayCommand, ListsEveryOperationOfTheFirstStepAndKeepsNoRun) {
    Program program(spirals("xray", {"--set", "precision.preset=amp-fp16"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    ASSERT_EQ(program.output().size(), 1u);
    const auto xray = nlohmann::json::parse(program.output().front());
    EXPECT_EQ(xray.at("step"), 1);
    EXPECT_EQ(xray.at("precision"), "amp-fp16");
    int low = 0;
    for (const auto& op : xray.at("ops")) {
        if (op.at("op") == "linear" && op.at("rule") == "low") ++low;
    }
    EXPECT_GE(low, 2);
    EXPECT_FALSE(std::filesystem::exists(program.runs()));
}

TEST(XrayCommand, ShowsWhatAForcedTypeChanges) {
    Program program(spirals("xray", {"--set", "precision.preset=fp32", "--force", "linear=bf16"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto found = nlohmann::json::parse(program.output().front());
    EXPECT_EQ(found.at("before").at("gradient_error"), 0);
    EXPECT_GT(found.at("after").at("gradient_error").get<double>(), 0);
    EXPECT_THAT(found.at("conclusion").get<std::string>(), HasSubstr("linear = bf16"));
}

TEST(XrayCommand, RefusesUnknownKeysRunsAndTypes) {
    Program unknown(spirals("xray", {"--force", "nowhere=fp16"}));
    unknown.finish();
    EXPECT_EQ(unknown.exit_code(), 2);
    EXPECT_THAT(unknown.errors(), HasSubstr("precision.force.nowhere: fp16: "));
    Program type(spirals("xray", {"--force", "linear=fp64"}));
    type.finish();
    EXPECT_EQ(type.exit_code(), 2);
    EXPECT_THAT(type.errors(), HasSubstr("precision.force.linear: fp64: use fp32, fp16, bf16, fp8-delayed, "));
}

TEST(StepArguments, NameNoRunThatIsNotThereAndNoRunWithOtherSettings) {
    for (const char* command : {"xray", "search-precision"}) {
        Program absent({command, "no-such-run"});
        absent.finish();
        EXPECT_EQ(absent.exit_code(), 2) << command;
        EXPECT_THAT(absent.errors(), HasSubstr("no-such-run: neither a run of the history"));
        Program changed({command, "1", "--set", "batch_size=8"});
        changed.finish();
        EXPECT_EQ(changed.exit_code(), 2) << command;
        EXPECT_THAT(changed.errors(), HasSubstr("--set: a step of a run has the run's settings"));
    }
}

TEST(SearchPrecisionCommand, PrintsAForceObjectWithItsEvidence) {
    Program program(spirals("search-precision", {"--tolerance", "0.5", "--confirm", "4"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto found = nlohmann::json::parse(program.output().front());
    EXPECT_TRUE(found.at("fp32").empty());
    EXPECT_FALSE(found.at("force").empty());
    EXPECT_GE(found.at("trials").size(), 2u);
    EXPECT_EQ(found.at("confirmed_steps"), 4);
    Program bad(spirals("search-precision", {"--tolerance", "little"}));
    bad.finish();
    EXPECT_EQ(bad.exit_code(), 2);
    EXPECT_THAT(bad.errors(), HasSubstr("--tolerance: little: use a number above 0"));
}

}  // namespace
}  // namespace app
