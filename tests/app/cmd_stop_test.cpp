#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "spirals.h"

// `halftone stop`, `pause` and `unpause` while another process trains.
namespace app {
namespace {

using testing::HasSubstr;

/// A run that does not end by itself.
class StopTest : public testing::Test {
protected:
    void SetUp() override {
        std::string line;
        while (train_.read_line(line) && line.find("\"step\":3,") == std::string::npos) {
        }
    }
    /// The output of a command on the run.
    std::string tell(const std::string& command, const std::string& run) const {
        Program program({command, run}, {.data_home = data_home_.path().string(), .before_start = {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), 0) << program.errors();
        return program.output_text();
    }
    std::string listed() const {
        Program runs({"runs"}, {.data_home = data_home_.path().string(), .before_start = {}});
        runs.finish();
        return runs.output_text();
    }

    const test_support::TempFolder data_home_;
    Program train_{spirals("train", {"--set", "epochs=1000000"}),
                   {.data_home = data_home_.path().string(), .before_start = {}}};
};

TEST_F(StopTest, ARunIsPausedGoesOnAndEnds) {
    EXPECT_THAT(tell("pause", "1"), HasSubstr("Run 1: paused (process "));
    EXPECT_THAT(listed(), HasSubstr("paused"));
    EXPECT_THAT(tell("unpause", "1"), HasSubstr("Run 1: training"));
    EXPECT_THAT(listed(), HasSubstr("running"));
    EXPECT_THAT(tell("stop", "1"), HasSubstr("Run 1: stopped"));
    train_.finish();
    EXPECT_EQ(train_.exit_code(), 0) << train_.errors();
    EXPECT_EQ(events_of(train_, "done").at(0).at("reason"), "stopped");
    EXPECT_THAT(listed(), HasSubstr("stopped"));
}

TEST_F(StopTest, ARunIsFoundByItsFolderFromAnotherHistory) {
    const auto folder = data_home_ / "halftone" / "runs" / "1";
    Program elsewhere({"pause", folder.string()});
    elsewhere.finish();
    EXPECT_EQ(elsewhere.exit_code(), 0) << elsewhere.errors();
    EXPECT_THAT(listed(), HasSubstr("paused"));
}

TEST_F(StopTest, AProcessThatDoesNotAnswerIsNamed) {
    train_.signal(SIGSTOP);
    Program pause({"pause", "1", "--timeout", "1"},
                  {.data_home = data_home_.path().string(), .before_start = {}});
    pause.finish();
    train_.signal(SIGCONT);
    EXPECT_EQ(pause.exit_code(), 2) << pause.errors();
    EXPECT_THAT(pause.errors(), HasSubstr("has not answered in 1 s"));
}

TEST(Stop, ARunThatNobodyTrainsIsRefused) {
    const test_support::TempFolder data_home;
    const Program::Options options{.data_home = data_home.path().string(), .before_start = {}};
    Program train(spirals("train", {"--set", "max_steps=3"}), options);
    train.finish();
    Program stop({"stop", "1"}, options);
    stop.finish();
    EXPECT_NE(stop.exit_code(), 0);
    EXPECT_THAT(stop.errors(), HasSubstr("no program trains it; its state is done"));
    Program unknown({"pause", "nothing"}, options);
    unknown.finish();
    EXPECT_EQ(unknown.exit_code(), 2);
}

}  // namespace
}  // namespace app
