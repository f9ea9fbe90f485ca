#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "spirals.h"

// `halftone watch` while `halftone train` writes the folder.
namespace app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The step lines of a program's output.
std::vector<std::string> steps_of(const Program& program) {
    std::vector<std::string> lines;
    for (const auto& event : events_of(program, "step")) lines.push_back(event.dump());
    return lines;
}

TEST(Watch, TellsARunAsTheProgramThatTrainsItDoes) {
    for (const bool poll : {false, true}) {
        const test_support::TempFolder folder;
        const std::string run = (folder / "run").string();
        std::vector<std::string> args = {"watch", run, "--json"};
        if (poll) args.emplace_back("--poll");
        Program watch(args);
        watch.wait_for_handler(SIGUSR1);  // it waits for the folder
        Program train(spirals("train", {"--set", "epochs=40", "--out", run}));
        train.finish();
        watch.finish();
        EXPECT_EQ(watch.exit_code(), 0) << watch.errors();
        EXPECT_THAT(watch.errors(), HasSubstr("no run in " + run + " yet"));
        EXPECT_EQ(steps_of(train).size(), 800U);
        EXPECT_EQ(steps_of(watch), steps_of(train));
        EXPECT_EQ(events_of(watch, "epoch"), events_of(train, "epoch"));
        EXPECT_EQ(events_of(watch, "done"), events_of(train, "done"));
    }
}

TEST(Watch, CtrlCEndsTheWatchingAndNotTheRun) {
    const test_support::TempFolder folder;
    const std::string run = (folder / "run").string();
    Program train(spirals("train", {"--set", "epochs=1000000", "--out", run}));
    std::string line;
    ASSERT_TRUE(train.read_line(line));
    Program watch({"watch", run});
    watch.wait_for_handler(SIGUSR1);
    watch.signal(SIGINT);
    watch.finish();
    EXPECT_EQ(watch.exit_code(), 0) << watch.errors();
    EXPECT_THAT(watch.output_text(), HasSubstr("the run continues"));
    EXPECT_TRUE(train.read_line(line));
    train.signal(SIGTERM);
    train.finish();
    EXPECT_EQ(events_of(train, "done").at(0).at("reason"), "stopped");
}

TEST(Watch, AKilledTrainerIsToldWithItsSteps) {
    const test_support::TempFolder folder;
    const std::string run = (folder / "run").string();
    Program train(spirals("train", {"--set", "epochs=1000000", "--out", run}));
    std::string line;
    while (train.read_line(line) && line.find("\"step\":20,") == std::string::npos) {
    }
    Program watch({"watch", run, "--json"});
    ASSERT_TRUE(watch.read_line(line));
    train.signal(SIGKILL);
    train.finish();
    watch.finish();
    EXPECT_EQ(watch.exit_code(), 5);
    EXPECT_GE(steps_of(watch).size(), 20U);
    ASSERT_EQ(events_of(watch, "warning").size(), 1U);
    EXPECT_THAT(events_of(watch, "warning").front().at("message"),
                HasSubstr("ended without finishing"));
}

TEST(Watch, AFailedRunEndsWithItsWordsAndCode) {
    const test_support::TempFolder folder;
    const std::string run = (folder / "run").string();
    Program train(spirals("train", {"--out", run, "--set", "precision.preset=fp32", "--set",
                                    "optimizer.lr=1e30", "--set", "stop_on_nan=2"}));
    train.finish();
    ASSERT_EQ(train.exit_code(), 5) << train.errors();
    Program watch({"watch", run, "--json"});
    watch.finish();
    EXPECT_EQ(watch.exit_code(), 5);
    EXPECT_EQ(watch.errors(), train.errors());
}

}  // namespace
}  // namespace app
