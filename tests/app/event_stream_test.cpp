// Output of train and compare while they run, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "program.h"
#include "spirals.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Each event belongs to a run; the result of a comparison belongs to several.
std::vector<json> run_objects_of(const std::vector<std::string>& lines) {
    std::vector<json> out = objects_of(lines);
    for (const json& object : out) {
        const bool result = object.value("event", "") == "comparison";
        EXPECT_TRUE(result || object.contains("run")) << object;
    }
    return out;
}

TEST(EventStream, TrainWritesOneEventALineAndNothingElse) {
    Program program(small("train", {"--json", "--set", "max_steps=5"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto all = run_objects_of(program.output());
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().at("event"), "start");
    EXPECT_EQ(all.back().at("event"), "done");
    const auto steps = events_of(program.output(), "step");
    ASSERT_EQ(steps.size(), 5u);
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].at("step"), i + 1);
    EXPECT_EQ(steps[0].at("samples"), 32);
    EXPECT_TRUE(steps[0].at("found_inf").is_boolean());
    const json& done = all.back();
    EXPECT_EQ(done.at("reason"), "max_steps");
    EXPECT_EQ(done.at("updates").get<int>() + done.at("skipped").get<int>(), 5);
    EXPECT_EQ(all.front().at("config").at("batch_size"), 32);
    EXPECT_TRUE(fs::exists(program.runs() / "1" / "steps.rec"));
}

TEST(EventStream, OutKeepsTheRunInThatFolder) {
    const test_support::TempFolder folder;
    const fs::path out = folder / "run";
    Program program(small("train", {"--set", "max_steps=3", "--out", out.string()}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_TRUE(fs::exists(out / "config.json"));
    EXPECT_TRUE(fs::exists(out / "events.jsonl"));
    EXPECT_TRUE(fs::exists(out / "steps.rec"));
    Program again(small("train", {"--set", "max_steps=3", "--out", out.string()}));
    again.finish();
    EXPECT_EQ(again.exit_code(), 2);
    EXPECT_THAT(again.errors(), HasSubstr("is not empty"));
}

TEST(EventStream, CtrlCStopsAfterTheStepSavesAndExitsWith0) {
    Program program(small("train", {"--json", "--set", "epochs=1000000"}));
    std::string line;
    while (program.read_line(line) && line.find("\"step\":20,") == std::string::npos) {
    }
    program.signal(SIGINT);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto done = events_of(program.output(), "done");
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].at("reason"), "stopped");
    EXPECT_EQ(done[0].at("steps"), events_of(program.output(), "step").size());
    EXPECT_TRUE(fs::exists(program.runs() / "1" / "steps.rec"));
}

TEST(EventStream, AClosedOutputStopsTheRunAndSavesIt) {
    Program program(small("train", {"--json", "--set", "epochs=1000000"}));
    std::string line;
    program.read_line(line);
    program.close_output();
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    std::ifstream events(program.runs() / "1" / "events.jsonl");
    const std::string text((std::istreambuf_iterator<char>(events)), {});
    EXPECT_THAT(text, HasSubstr("\"reason\":\"stopped\""));
}

TEST(EventStream, CompareRunsEachPrecisionOnTheSameDataAndEndsWithATable) {
    Program program(small("compare", {"--precision", "fp32,amp-bf16", "--set", "max_steps=20"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto& lines = program.output();
    EXPECT_THAT(lines, Contains(StartsWith("precision ")));
    EXPECT_THAT(lines, Contains(StartsWith("fp32 ")));
    EXPECT_THAT(lines, Contains(StartsWith("amp-bf16 ")));
    EXPECT_THAT(lines, Contains(StartsWith("amp-bf16 against fp32: ")));
}

TEST(EventStream, CompareTakesThePrecisionsOfTheFileUnlessOthersAreGiven) {
    const test_support::TempFolder folder;
    std::ofstream(folder / "c.json") << R"({"compare": {"precisions": ["amp-bf16", "fp32"]}})";
    const std::string file = (folder / "c.json").string();
    Program own(small("compare", {file, "--set", "max_steps=2"}));
    own.finish();
    EXPECT_EQ(own.exit_code(), 0) << own.errors();
    EXPECT_THAT(own.output(), Contains(StartsWith("fp32 against amp-bf16: ")));
    Program given(small("compare", {file, "--precision", "fp32", "--set", "max_steps=2"}));
    given.finish();
    EXPECT_THAT(given.output(), Not(Contains(StartsWith("amp-bf16 "))));
    Program train(small("train", {file, "--set", "max_steps=2"}));
    train.finish();
    EXPECT_EQ(train.exit_code(), 0) << train.errors();
}

TEST(EventStream, APrecisionNamedTwiceHasAFolderForEachRun) {
    const test_support::TempFolder folder;
    Program program(small(
        "compare", {"--precision", "fp32,fp32", "--set", "max_steps=3", "--out", folder.str()}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    for (const std::string name : {"fp32", "fp32-2"})
        EXPECT_TRUE(fs::exists(folder / name / "steps.rec")) << name;
}

TEST(EventStream, CompareMixesItsRunsInOneStream) {
    Program program(small("compare", {"--precision", "fp32,amp-fp16", "--seeds", "2", "--json",
                                      "--set", "max_steps=6"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_EQ(events_of(program.output(), "done").size(), 4u);
    std::map<std::string, double> first_losses;
    for (const auto& step : events_of(program.output(), "step")) {
        first_losses.try_emplace(step.at("run").get<std::string>(), step.at("loss").get<double>());
    }
    ASSERT_EQ(first_losses.size(), 4u);
    // Same weights and batch: runs of one seed begin with the same loss up to rounding.
    EXPECT_NEAR(first_losses.at("1"), first_losses.at("2"), 0.01);
    EXPECT_NEAR(first_losses.at("3"), first_losses.at("4"), 0.01);
}

TEST(EventStream, AHomeThatCannotBeWrittenIsReplacedWithOneWarning) {
    Program program(small("train", {"--json", "--set", "max_steps=2"}), {"/proc/halftone", {}});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(program.errors(), HasSubstr("/proc/halftone"));
    EXPECT_EQ(events_of(program.output(), "done").size(), 1u);
    const auto start = events_of(program.output(), "start");
    ASSERT_EQ(start.size(), 1u);
    fs::remove_all(fs::path(start[0].at("folder").get<std::string>()).parent_path());
}

TEST(EventStream, AFullDiskEndsTheRunWithASentence) {
    const auto limit_files = [] {
        // Less than the end of the record's second chunk (235 kB), and more than the journal in which
        // the index is made (about 222 kB).
        const rlimit limit{229'000, 229'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    };
    Program program(small("train", {"--set", "epochs=1000"}), {"", limit_files});
    program.finish();
    EXPECT_EQ(program.exit_code(), 5);
    EXPECT_THAT(program.errors(), HasSubstr("the disk is full"));
}

}  // namespace
}  // namespace app
