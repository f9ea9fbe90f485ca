#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "spirals.h"

namespace app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> ids_of(const Program& program) {
    std::vector<std::string> out;
    for (const auto& finding : events_of(program, "finding"))
        out.push_back(finding.at("id").get<std::string>());
    return out;
}

TEST(Lint, ListsFindingsOneAnObjectAndExitsWithZero) {
    Program program(
        spirals("lint", {"--set", "precision.preset=pure-fp16", "--set", "device=cpu"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(ids_of(program), testing::ElementsAre("fp16-without-scaler"));
    EXPECT_FALSE(std::filesystem::exists(program.runs()));
}

TEST(Lint, KnowsTheLengthOfTheRunByItsData) {
    // 640 samples in batches of 32, 2 epochs: 40 steps.
    Program program(spirals("lint", {"--set", "scaler.growth_interval=41", "--set", "device=cpu"}));
    program.finish();
    const auto findings = events_of(program, "finding");
    ASSERT_EQ(findings.size(), 1u) << program.output_text();
    EXPECT_EQ(findings[0].at("id"), "growth-interval-beyond-run");
    EXPECT_THAT(findings[0].at("message").get<std::string>(), HasSubstr("41 steps, the run 40"));
    EXPECT_EQ(findings[0].at("fix"), nlohmann::json::parse(R"(["scaler.growth_interval=4"])"));
}

TEST(Lint, WritesSettingsWithoutTheFindings) {
    test_support::TempFolder folder;
    const std::string fixed = (folder / "fixed.json").string();
    Program first(
        spirals("lint", {"--set", "precision.preset=pure-fp16", "--set", "scaler.init_scale=1000",
                         "--set", "device=cpu", "--set", "teach.norm=composed", "--fix", fixed}));
    first.finish();
    EXPECT_EQ(first.exit_code(), 0) << first.errors();
    EXPECT_EQ(ids_of(first).size(), 2u) << first.output_text();
    Program second({"lint", fixed, "--json"});
    second.finish();
    EXPECT_EQ(second.exit_code(), 0) << second.errors();
    EXPECT_THAT(second.output(), IsEmpty());
}

TEST(Lint, MeasuresAStaticScale) {
    Program program(spirals("lint", {"--measure", "--set", "precision.scaler=static", "--set",
                                     "scaler.init_scale=1073741824", "--set", "device=cpu"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(ids_of(program),
                testing::ElementsAre("static-scale-beyond-usual", "static-scale-too-large"));
}

TEST(Lint, IsTextForPeople) {
    Program program({"lint", "--set", "teach.norm=composed", "--set", "device=cpu", "--set",
                     "scaler.preset=classroom"});
    program.finish();
    EXPECT_THAT(program.output_text(), HasSubstr("error: Norms are computed"));
    EXPECT_THAT(program.output_text(), HasSubstr("--set teach.norm="));
    Program none({"lint", "--set", "scaler.preset=classroom", "--set", "device=cpu"});
    none.finish();
    EXPECT_THAT(none.output_text(), HasSubstr("No findings."));
}

TEST(Lint, RefusesBadSettings) {
    Program program({"lint", "--set", "batch_size=0"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("batch_size: 0"));
}

}  // namespace
}  // namespace app
