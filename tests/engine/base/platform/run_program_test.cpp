#include "base/platform/run_program.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, GivesArgumentsAsTheyAreAndReadsBothOutputs) {
    const auto out = run_program(
        {"sh", "-c", "printf '%s|' \"$@\"; echo wrong >&2; exit 3", "sh", "a b", "$HOME; `id`", ""},
        60s);
    EXPECT_TRUE(out.started);
    EXPECT_TRUE(out.in_time);
    EXPECT_EQ(out.exit_code, 3);
    EXPECT_FALSE(out.succeeded());
    EXPECT_EQ(out.output, "a b|$HOME; `id`||");
    EXPECT_EQ(out.errors, "wrong\n");
}

TEST(RunProgram, ReadsMoreThanAPipeHolds) {
    const auto out =
        run_program({"sh", "-c", "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2"}, 60s);
    EXPECT_TRUE(out.succeeded());
    EXPECT_EQ(out.output.size(), 300000u);
    EXPECT_EQ(out.errors.size(), 200000u);
}

TEST(RunProgram, GivesNoStandardInput) { EXPECT_TRUE(run_program({"cat"}, 60s).succeeded()); }

TEST(RunProgram, EndsAProgramThatTakesTooLongWithItsChildren) {
    const auto out = run_program({"sh", "-c", "sleep 1000 & wait"}, 1s);
    EXPECT_TRUE(out.started);
    EXPECT_FALSE(out.in_time);
    EXPECT_EQ(out.exit_code, -1);
}

TEST(RunProgram, EndsAProgramThatClosesItsOutputsAndGoesOn) {
    const auto out = run_program({"sh", "-c", "exec >&- 2>&-; sleep 100"}, 1s);
    EXPECT_TRUE(out.started);
    EXPECT_FALSE(out.in_time);
    EXPECT_EQ(out.exit_code, -1);
}

TEST(RunProgram, EndsAProgramWhenItIsStopped) {
    for (const char* program : {"sleep 1000 & wait", "exec >&- 2>&-; sleep 1000"}) {
        const test_support::TempFolder folder;
        const std::string begun = (folder / "begun").string();
        std::stop_source stop;
        const std::jthread stopper([&] {
            EXPECT_TRUE(test::comes_true([&] { return std::filesystem::exists(begun); }));
            stop.request_stop();
        });
        const auto out = run_program({"sh", "-c", "touch '" + begun + "'; " + program}, 500s, stop.get_token());
        EXPECT_TRUE(out.started);
        EXPECT_TRUE(out.stopped);
        EXPECT_FALSE(out.in_time);
        EXPECT_EQ(out.exit_code, -1);
    }
}

TEST(RunProgram, ASignalThatThisThreadBlocksReachesTheProgram) {
    sigset_t blocked, before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    const auto out = run_program({"sh", "-c", "kill -TERM $$; echo still here"}, 60s);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_TRUE(out.in_time);
    EXPECT_EQ(out.exit_code, -1);
    EXPECT_EQ(out.output, "");
}

TEST(RunProgram, AProgramThatIsNotThereIsNotStarted) {
    EXPECT_FALSE(run_program({"no-such-program-of-any-kind"}, 60s).started);
    EXPECT_FALSE(is_program("no-such-program-of-any-kind"));
    EXPECT_TRUE(is_program("sh"));
}

}  // namespace
}  // namespace engine
