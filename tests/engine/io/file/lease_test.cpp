#include "io/file/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::comes_true;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Machines that share a folder, with clocks that the test moves.
class LeaseTest : public testing::Test {
protected:
    /// The rules of a program on this machine.
    LeaseRules here() {
        LeaseRules rules;
        rules.reader_clock = [this] { return reader_.load(); };
        rules.holder_clock = [this] { return holder_.load(); };
        return rules;
    }
    LeaseRules on(const std::string& host) {
        LeaseRules rules = here();
        rules.self = [host] {
            LeaseHolder self = LeaseHolder::self();
            self.host = host;
            self.boot = "start of " + host;
            return self;
        };
        return rules;
    }
    std::unique_ptr<Lease> take(const LeaseRules& rules) {
        LeaseSighting seen;
        LeaseState state;
        return Lease::try_take(folder_.path(), seen, state, rules);
    }
    LeaseState look(LeaseSighting& seen, const LeaseRules& rules) {
        return look_at_lease(folder_.path(), seen, rules);
    }
    /// Takes the lease after its holder has been silent for long enough.
    std::unique_ptr<Lease> take_after_silence(const LeaseRules& rules) {
        LeaseSighting seen;
        LeaseState state = look(seen, rules);
        EXPECT_TRUE(state.held);
        reader_ = reader_ + 91;
        return Lease::try_take(folder_.path(), seen, state, rules);
    }
    std::set<std::string> files() const {
        std::set<std::string> out;
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            out.insert(entry.path().filename().string());
        return out;
    }
    static std::string text_of(const fs::path& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// The error of check(); an empty sentence if there is none.
    static std::pair<ErrorCode, std::string> failure(Lease& lease) {
        try {
            lease.check();
        } catch (const Error& error) {
            return {error.code(), error.what()};
        }
        return {};
    }

    const test_support::TempFolder folder_;
    std::atomic<double> reader_{1000}, holder_{5000};
};

TEST_F(LeaseTest, HasOneHolderAndLeavesNothingWhenItIsReleased) {
    LeaseSighting seen;
    EXPECT_FALSE(look(seen, here()).held);
    auto first = take(here());
    ASSERT_TRUE(first);
    EXPECT_THAT(files(), ElementsAre("lease.1"));
    EXPECT_FALSE(take(here()));
    const LeaseState state = look(seen, here());
    EXPECT_TRUE(state.held);
    EXPECT_EQ(state.host, "") << "its process can be looked at";
    EXPECT_EQ(state.process, ::getpid());
    first.reset();
    EXPECT_THAT(files(), IsEmpty());
    EXPECT_TRUE(take(here()));
}

TEST_F(LeaseTest, IsFreeAtOnceWhenItsProcessOnThisMachineIsGone) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lease = take(here());
        ::kill(::getpid(), SIGKILL);
    }
    // Not waited for yet: a dead process that nobody has waited for still has a number.
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_THAT(files(), ElementsAre("lease.1"));
    LeaseSighting seen;
    EXPECT_FALSE(look(seen, here()).held);
    const auto lease = take(here());
    EXPECT_TRUE(lease);
    EXPECT_THAT(files(), ElementsAre("lease.2")) << "the dead one is removed";
    ::waitpid(child, nullptr, 0);
}

TEST_F(LeaseTest, AnotherProcessOfTheSameNumberIsNotItsHolder) {
    LeaseHolder earlier = LeaseHolder::self();
    earlier.started -= 1;
    LeaseRules rules = here();
    rules.self = [earlier] { return earlier; };
    const auto lease = take(rules);
    LeaseSighting seen;
    EXPECT_FALSE(look(seen, here()).held);
    EXPECT_TRUE(take(here()));
}

TEST_F(LeaseTest, OfAnotherMachineIsFreeOnceItHasNotChangedFor90Seconds) {
    const auto theirs = take(on("node1"));
    LeaseSighting seen;
    EXPECT_EQ(look(seen, here()).host, "node1");
    for (const double seconds : {0.5, 30.0, 89.0}) {
        reader_ = 1000 + seconds;
        const LeaseState state = look(seen, here());
        EXPECT_TRUE(state.held);
        EXPECT_EQ(state.silent_s, seconds);
    }
    LeaseSighting newcomer;  // whose clock begins with its first look
    EXPECT_TRUE(look(newcomer, on("node2")).held);
    reader_ = 1090;
    EXPECT_FALSE(look(seen, here()).held);
    EXPECT_TRUE(look(newcomer, on("node2")).held);
}

TEST_F(LeaseTest, ContainersOfOneMachineAreJudgedAsOtherMachines) {
    LeaseRules container = here();
    container.self = [] {
        LeaseHolder self = LeaseHolder::self();
        self.pid_namespace += 1;
        return self;
    };
    const auto theirs = take(container);
    LeaseSighting seen;
    EXPECT_NE(look(seen, here()).host, "");
    reader_ = 1091;
    EXPECT_FALSE(look(seen, here()).held);
}

TEST_F(LeaseTest, IsRenewedByItsThreadSoThatItDoesNotFallSilent) {
    LeaseRules rules = on("node1");
    rules.renewal = LeaseRules::Seconds(0.002);
    const auto theirs = take(rules);
    LeaseSighting seen;
    EXPECT_TRUE(look(seen, here()).held);
    for (int i = 0; i < 3; ++i) {
        const std::string before = text_of(folder_ / "lease.1");
        ASSERT_TRUE(comes_true([&] { return text_of(folder_ / "lease.1") != before; }));
        reader_ = reader_ + 60;
        const LeaseState state = look(seen, here());
        EXPECT_TRUE(state.held);
        EXPECT_EQ(state.silent_s, 0);
    }
}

TEST_F(LeaseTest, ItsThreadWritesAtOnceWhatItShowsAndAnswers) {
    LeaseRules rules = on("node1");
    rules.renewal = 1h;
    const auto theirs = take(rules);
    LeaseSighting seen;
    EXPECT_EQ(look(seen, here()).activity, "");
    theirs->show("paused");
    theirs->answer("r1");
    LeaseState state;
    ASSERT_TRUE(comes_true([&] {
        state = look(seen, here());
        return !state.answered.empty();
    }));
    EXPECT_EQ(state.id, theirs->id());
    EXPECT_EQ(state.activity, "paused");
    EXPECT_EQ(state.answered, "r1");
}

TEST_F(LeaseTest, TheClockOfTheReaderBeginsAnewWithItsMachine) {
    const auto theirs = take(on("node1"));
    LeaseSighting seen;
    (void)look(seen, here());
    reader_ = 1091;
    LeaseSighting other_start = seen;
    other_start.boot = "an earlier start";
    EXPECT_TRUE(look(other_start, here()).held);
    LeaseSighting future = seen;
    future.since = 5000;
    EXPECT_TRUE(look(future, here()).held);
    EXPECT_FALSE(look(seen, here()).held);
}

TEST_F(LeaseTest, AHolderThatSleptFindsItTaken) {
    const auto slept = take(on("node1"));
    slept->check();
    const auto taken = take_after_silence(on("node2"));
    ASSERT_TRUE(taken);
    EXPECT_THAT(files(), ElementsAre("lease.2"));
    EXPECT_EQ(failure(*slept).second, "") << "it relies on its last renewal for a while";
    holder_ = holder_ + 61;
    const auto [code, text] = failure(*slept);
    EXPECT_EQ(code, ErrorCode::state);
    EXPECT_THAT(text, HasSubstr("on node2 has taken over this run"));
    EXPECT_TRUE(slept->is_lost());
    EXPECT_NE(failure(*slept).second, "") << "and stays lost";
    slept->release();
    EXPECT_THAT(files(), ElementsAre("lease.2")) << "which is not its own";
    holder_ = holder_ + 61;
    taken->check();
}

TEST_F(LeaseTest, AHolderThatSleptFindsItTakenAfterTheOtherProgramHasEnded) {
    const auto slept = take(on("node1"));
    take_after_silence(on("node2")).reset();
    EXPECT_THAT(files(), IsEmpty());
    holder_ = holder_ + 61;
    EXPECT_EQ(failure(*slept).first, ErrorCode::state);
    EXPECT_THAT(files(), IsEmpty()) << "it does not come back";
}

TEST_F(LeaseTest, AHolderThatSleptGoesOnWhereNobodyTookIt) {
    const auto lease = take(on("node1"));
    const std::string before = text_of(folder_ / "lease.1");
    holder_ = holder_ + 3600;
    lease->check();
    EXPECT_NE(text_of(folder_ / "lease.1"), before) << "renewed";
    EXPECT_FALSE(lease->is_lost());
}

/// Writes of the holder that take as long as the test says.
TEST_F(LeaseTest, AHolderThatSleptWhileItRenewedDoesNotTrustWhatItSaw) {
    LeaseRules rules = on("node1");
    bool sleeps = false;
    int calls = 0;
    rules.holder_clock = [&] {
        // The second look at the clock in a renewal is after the file was replaced.
        if (sleeps && ++calls > 3) holder_ = holder_ + 200;
        return holder_.load();
    };
    const auto lease = take(rules);
    holder_ = holder_ + 61;
    sleeps = true;
    EXPECT_EQ(failure(*lease).first, ErrorCode::state);
    EXPECT_THAT(files(), IsEmpty());
}

TEST_F(LeaseTest, StaysWithItsHolderWhereItCannotBeRenewed) {
    const auto lease = take(on("node1"));
    fs::create_directory(folder_ / "lease.1.part");  // no file can be written there
    holder_ = holder_ + 61;
    EXPECT_EQ(failure(*lease).second, "");
    take_after_silence(on("node2")).reset();
    EXPECT_EQ(failure(*lease).first, ErrorCode::state) << "each write looks at the file now";
}

TEST_F(LeaseTest, AFolderThatIsGoneIsNotOneThatWasTaken) {
    const auto folder = folder_ / "run";
    fs::create_directory(folder);
    LeaseSighting seen;
    LeaseState state;
    const auto lease = Lease::try_take(folder, seen, state, on("node1"));
    fs::rename(folder, folder_ / "elsewhere");
    holder_ = holder_ + 61;
    EXPECT_EQ(failure(*lease).first, ErrorCode::io);
    EXPECT_FALSE(lease->is_lost());
    fs::rename(folder_ / "elsewhere", folder);
    EXPECT_EQ(failure(*lease).second, "");
}

TEST_F(LeaseTest, ALeaseThatCannotBeReadBelongsToSomebodyUntilItHasNotChangedFor90Seconds) {
    const std::vector<std::string> texts = {
        "",
        "garbage",
        std::string("\0\0\0", 3),
        std::string(100'000, '['),
        R"({"id": 5, "host": [], "boot": {}, "process": "1"})",
        R"({"boot": "x", "process": 1e300, "pid_namespace": -1})",
        "[1, 2]",
        "null",
        R"({"id": "x", "host": ")" + std::string(5000, 'h') + "\"}"};
    for (const std::string& text : texts) {
        const test_support::TempFolder dir;
        dir.write("lease.7", text);
        LeaseSighting seen;
        const LeaseState state = look_at_lease(dir.path(), seen, here());
        EXPECT_TRUE(state.held) << text.substr(0, 50);
        EXPECT_EQ(state.host, "?");
        LeaseState after;
        EXPECT_FALSE(Lease::try_take(dir.path(), seen, after, here()));
        reader_ = reader_ + 91;
        const auto lease = Lease::try_take(dir.path(), seen, after, here());
        EXPECT_TRUE(lease) << text.substr(0, 50);
        EXPECT_TRUE(fs::exists(dir / "lease.8"));
        EXPECT_FALSE(fs::exists(dir / "lease.7"));
    }
}

TEST_F(LeaseTest, OtherFilesAreNoLeases) {
    for (const char* name : {"lease", "lease.", "lease.0", "lease.x", "lease.1x", "lease.-1",
                             "lease.1.part", "lease.99999999999999999999", "release.1"})
        folder_.write(name, "x");
    LeaseSighting seen;
    EXPECT_FALSE(look(seen, here()).present);
    const auto lease = take(here());
    EXPECT_TRUE(fs::exists(folder_ / "lease.1"));
}

TEST_F(LeaseTest, ANumberThatNoCountingReachesIsNone) {
    // The one after it would overflow, and the folder could never be taken again.
    for (const char* name : {"lease.9223372036854775807", "lease.1152921504606846976"})
        folder_.write(name, "{}");
    const auto lease = take(here());
    ASSERT_TRUE(lease);
    EXPECT_TRUE(fs::exists(folder_ / "lease.1"));
    // Nor is a number that is no process: as a pid_t this is process 1.
    folder_.write("lease.7", R"({"id":"x","process":4294967297,"boot":")" +
                                 LeaseHolder::self().boot + R"("})");
    LeaseSighting seen;
    EXPECT_EQ(look(seen, here()).process, 0);
}

TEST_F(LeaseTest, TheNameOfItsMachineCanBePrinted) {
    folder_.write("lease.1",
                  "{\"id\":\"x\",\"boot\":\"b\",\"process\":1,\"host\":\"a\\u001b]0;b\\n\"}");
    LeaseSighting seen;
    EXPECT_EQ(look(seen, here()).host, "a??0?b?");
}

TEST_F(LeaseTest, OneOfManyTakesOverADeadOne) {
    constexpr int machines = 6;
    for (int round = 0; round < 20; ++round) {
        const test_support::TempFolder dir;
        dir.write("lease.3", "dead");
        std::array<std::unique_ptr<Lease>, machines> taken;
        std::vector<std::thread> threads;
        for (int i = 0; i < machines; ++i) {
            threads.emplace_back([&, i] {
                const LeaseRules rules = on("node" + std::to_string(i));
                LeaseSighting seen{"3 dead", "start of node" + std::to_string(i), 0};
                LeaseState state;
                taken[static_cast<std::size_t>(i)] =
                    Lease::try_take(dir.path(), seen, state, rules);
            });
        }
        for (auto& thread : threads) thread.join();
        int holders = 0;
        holder_ = holder_ + 61;
        for (const auto& lease : taken) holders += lease && failure(*lease).second.empty();
        EXPECT_LE(holders, 1);
        EXPECT_LE(std::ranges::count_if(taken, [](const auto& lease) { return lease != nullptr; }),
                  1);
    }
}

/// A process is stopped while it holds the lease; another machine takes it; the process goes on.
TEST_F(LeaseTest, AStoppedProcessWritesNothingOnceAnotherMachineHasTakenIt) {
    LeaseRules quick = on("node1");
    quick.renewal = LeaseRules::Seconds(0.01);
    quick.patience = LeaseRules::Seconds(0.2);
    quick.trust = LeaseRules::Seconds(0.1);
    quick.reader_clock = LeaseRules::standard().reader_clock;
    quick.holder_clock = LeaseRules::standard().holder_clock;
    LeaseRules other = quick;
    other.self = on("node2").self;
    const fs::path rows = folder_ / "rows";
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lease = take(quick);
        for (;;) {
            if (!failure(*lease).second.empty()) ::_exit(failure(*lease).first == ErrorCode::state);
            std::ofstream(rows, std::ios::app) << "x";
            std::this_thread::sleep_for(1ms);
        }
    }
    ASSERT_TRUE(comes_true([&] { return !text_of(rows).empty(); }));
    EXPECT_FALSE(take(other)) << "it is held as long as it is renewed";
    ASSERT_EQ(::kill(child, SIGSTOP), 0);
    LeaseSighting seen;
    LeaseState state;
    std::unique_ptr<Lease> taken;
    ASSERT_TRUE(comes_true([&] {
        taken = Lease::try_take(folder_.path(), seen, state, other);
        return taken != nullptr;
    }));
    const std::size_t before = text_of(rows).size();
    ASSERT_EQ(::kill(child, SIGCONT), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1) << "it found its lease taken";
    // The signal may come between the look and the write of a row.
    EXPECT_LE(text_of(rows).size(), before + 1);
    taken->check();
}

}  // namespace
}  // namespace engine
