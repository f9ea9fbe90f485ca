// --notify: a command at the end of a run, a comparison or a sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kept_runs.h"

namespace app {
namespace {

class Notify : public KeptRuns {
protected:
    /// Arguments that the command received; it is run once.
    std::string told_by(const std::string& command, std::vector<std::string> more,
                        int exit_code = 0) {
        const std::filesystem::path file = home_ / "told";
        std::filesystem::remove(file);
        more.insert(more.end(), {"--notify",
                                 "echo \"$HALFTONE_KIND/$HALFTONE_RUN/$HALFTONE_STATE/"
                                 "$HALFTONE_REASON\" >> '" +
                                     file.string() + "'"});
        lines(spirals(command, more), exit_code);
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
};

TEST_F(Notify, TellsOfARunAComparisonAndASweepOnce) {
    EXPECT_EQ(told_by("train", {"--set", "max_steps=3"}), "run/1/done/max_steps\n");
    EXPECT_EQ(told_by("compare", {"--set", "max_steps=3"}), "comparison/2 3/done/max_steps\n");
    EXPECT_EQ(told_by("sweep", {"--set", "max_steps=3", "--grid", "optimizer.lr=0.1,0.2"}),
              "sweep/4 5/done/2 done, 0 failed, 0 waiting\n");
}

TEST_F(Notify, TellsOfAFailureWithItsReason) {
    const std::string told =
        told_by("train", {"--set", "dataset.kind=csv", "--set", "dataset.path=/nowhere.csv"}, 3);
    EXPECT_THAT(told, testing::StartsWith("run//failed/"));
    EXPECT_THAT(told, testing::HasSubstr("/nowhere.csv"));
    EXPECT_THAT(told_by("train", {"--set", "optimizer.lr=1e30", "--set", "stop_on_nan=3"}, 5),
                testing::StartsWith("run/1/diverged/The run diverged: "));
}

TEST_F(Notify, SaysIfTheCommandFailedAndIsNoSetting) {
    lines(spirals("train", {"--set", "max_steps=3", "--notify", "exit 7"}));
    EXPECT_THAT(errors_, testing::HasSubstr("--notify: the command ended with status 7"));
    lines(spirals("train", {"--set", "notify=true"}), 2);
}

}  // namespace
}  // namespace app
