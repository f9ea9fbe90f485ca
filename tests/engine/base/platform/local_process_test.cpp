#include "base/platform/local_process.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace engine {
namespace {

TEST(ProcessStat, IsReadBehindANameWithABracket) {
    const auto before = read_process_stat(getpid());
    ASSERT_TRUE(before);
    std::array<char, 16> name{};
    prctl(PR_GET_NAME, name.data());
    prctl(PR_SET_NAME, "a) Z 1 (");
    const auto renamed = read_process_stat(getpid());
    prctl(PR_SET_NAME, name.data());
    ASSERT_TRUE(renamed);
    EXPECT_FALSE(renamed->has_ended());
    EXPECT_EQ(renamed->start, before->start);
}

TEST(ProcessStat, IsEmptyForNoProcess) { EXPECT_FALSE(read_process_stat(0).has_value()); }

TEST(LocalProcess, ThisOneIsAliveAndHasAStart) {
    const LocalProcess own = local_process(getpid());
    EXPECT_GT(own.start, 0U);
    EXPECT_TRUE(own.is_alive());
}

TEST(LocalProcess, IsNotAliveOnceKilledEvenIfNobodyHasWaitedForIt) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const LocalProcess process = local_process(child);
    EXPECT_TRUE(process.is_alive());
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // it stays a zombie
    EXPECT_FALSE(process.is_alive());
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(process.is_alive());
}

TEST(LocalProcess, OneThatWasGoneWhenItWasLookedUpIsNotAlive) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // it stays a zombie
    const LocalProcess ended = local_process(child);
    EXPECT_EQ(ended.start, 0U);
    EXPECT_FALSE(ended.is_alive());
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(local_process(child).is_alive());
    EXPECT_FALSE(LocalProcess{}.is_alive());
}

TEST(LocalProcess, AStoppedOneIsAlive) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const LocalProcess process = local_process(child);
    kill(child, SIGSTOP);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOWAIT);
    EXPECT_TRUE(process.is_alive()) << "only the heartbeats tell";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(LocalProcess, AnotherProcessOfTheSameNumberIsNotIt) {
    LocalProcess process = local_process(getpid());
    --process.start;
    EXPECT_FALSE(process.is_alive());
}

}  // namespace
}  // namespace engine
