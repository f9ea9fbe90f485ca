#include "engine/runs/end_notice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tuple>

#include "done_of.h"
#include "temp_folder.h"

namespace engine {
namespace {

std::string content_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(EndNotice, ARunWhoseLossWasNotFiniteToTheEndHasDivergedUnlessItFailed) {
    RunDone done = done_of("1");
    for (const auto& [reason, finite, not_finite] :
         {std::tuple(DoneReason::epochs, "done", "diverged"),
          std::tuple(DoneReason::max_steps, "done", "diverged"),
          std::tuple(DoneReason::early_stopping, "done", "diverged"),
          std::tuple(DoneReason::stopped, "stopped", "diverged"),
          std::tuple(DoneReason::diverged, "diverged", "diverged"),
          std::tuple(DoneReason::failed, "failed", "failed")}) {
        done.reason = reason;
        done.diverged_at = 0;
        EXPECT_EQ(end_state(done), finite) << name(reason);
        done.diverged_at = 11;
        EXPECT_EQ(end_state(done), not_finite) << name(reason);
    }
}

TEST(EndNotice, TheCommandGetsRunStateAndReasonAndNothingElseIsRun) {
    const test_support::TempFolder dir;
    ::setenv("HALFTONE_STATE", "of the caller", 1);
    // The text of the error is a value, never a part of the command.
    const EndNotice notice{"comparison", {"3", "4"}, "failed", "no; $(touch x) `touch x`\n\"a\""};
    const std::string command =
        "cd '" + dir.str() +
        "' && printf '%s|' \"$HALFTONE_KIND\" \"$HALFTONE_RUN\" \"$HALFTONE_STATE\" "
        "\"$HALFTONE_REASON\" > told";
    EXPECT_EQ(run_notice_command(command, notice), 0);
    ::unsetenv("HALFTONE_STATE");
    EXPECT_EQ(content_of(dir / "told"), "comparison|3 4|failed|no; $(touch x) `touch x`\n\"a\"|");
    EXPECT_FALSE(std::filesystem::exists(dir / "x"));
}

TEST(EndNotice, SaysHowTheCommandEnded) {
    EXPECT_EQ(run_notice_command("exit 3", {}), 3);
    EXPECT_EQ(run_notice_command("kill -9 $$", {}), -1);
}

}  // namespace
}  // namespace engine
