#include "parallel/liveness.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace engine {
namespace {

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
