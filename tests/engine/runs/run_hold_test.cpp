// Who may write a run, and what others see of it: with file locks, without, and from another
// machine.
#include "runs/run_hold.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>

#include "done_of.h"
#include "engine/base/error.h"
#include "engine/runs/run_listing.h"
#include "engine/runs/run_store.h"
#include "io/file/atomic_file.h"
#include "record/event_json.h"
#include "runs/run_folder.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

int flock_without_locks(int, int) {
    errno = ENOLCK;
    return -1;
}
int flock_that_locks_nothing(int, int) { return 0; }

/// Locks of each of these kinds, and the real ones.
class RunHoldTest : public testing::TestWithParam<FileLock::Function> {
protected:
    void SetUp() override { FileLock::replace_flock(GetParam()); }
    void TearDown() override { FileLock::replace_flock(nullptr); }
    const test_support::TempFolder dir_;
};
INSTANTIATE_TEST_SUITE_P(Locks, RunHoldTest,
                         testing::Values(FileLock::Function{}, &flock_without_locks,
                                         &flock_that_locks_nothing));

TEST_P(RunHoldTest, HasOneProgramAtATime) {
    LeaseSighting seen;
    LeaseState holder;
    auto hold = RunHold::try_take(dir_.path(), seen, holder);
    ASSERT_TRUE(hold);
    EXPECT_FALSE(RunHold::try_take(dir_.path(), seen, holder));
    EXPECT_TRUE(holder.held);
    EXPECT_TRUE(holder_of(dir_.path()).held);
    hold->check();
    hold->release();
    EXPECT_FALSE(holder_of(dir_.path()).held);
    hold->check();  // after its end
    EXPECT_TRUE(RunHold::try_take(dir_.path(), seen, holder));
}

TEST_P(RunHoldTest, ARunThatIsTrainedIsNeitherResumedNorDeletedNorInterrupted) {
    RunStore theirs(dir_.path());
    const auto run = theirs.create({});
    RunStore ours(dir_.path());
    EXPECT_EQ(ours.find(run.run)->state, "running");
    EXPECT_EQ(ours.list().front().state, "running");
    EXPECT_THAT(message_of(ErrorCode::state, [&] { ours.reopen(run.folder, 0); }),
                HasSubstr("is being trained"));
    EXPECT_THAT(message_of(ErrorCode::state,
                           [&] { ours.remove(run.run, [](const fs::path&) { FAIL(); }); }),
                HasSubstr("is being trained"));
    ours.rebuild();
    EXPECT_EQ(ours.find(run.run)->state, "running");
    theirs.append(done_of(run.run));
    EXPECT_EQ(ours.find(run.run)->state, "done");
    EXPECT_EQ(ours.reopen(run.folder, 0).run, run.run);
}

TEST_P(RunHoldTest, ARunWhoseProcessDiedIsFreeAtOnce) {
    const pid_t child = ::fork();
    if (child == 0) {
        RunStore store(dir_.path());
        (void)store.create({});
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    RunStore store(dir_.path());
    EXPECT_EQ(store.find("1")->state, "interrupted");
    store.reopen(dir_ / "1", 0);
    EXPECT_EQ(store.find("1")->state, "running");
}

/// Each start sweeps what killed starts have left.
TEST_P(RunHoldTest, StartsAtTheSameTimeLeaveEachOthersFoldersAlone) {
    constexpr int processes = 6, runs_each = 4;
    for (int i = 0; i < processes; ++i) {
        if (::fork() != 0) continue;
        try {
            for (int k = 0; k < runs_each; ++k) {
                RunStore store(dir_.path());
                const auto run = store.create({});
                store.append(done_of(run.run));
                if (!has_settings(run.folder)) ::_exit(1);
            }
            ::_exit(0);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(1);
        }
    }
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        ASSERT_GT(::wait(&status), 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_THAT(RunStore(dir_.path()).list(), SizeIs(processes * runs_each));
}

/// A store here, and a run that a program on another machine writes.
class RunElsewhere : public testing::Test {
protected:
    void SetUp() override {
        rules_.reader_clock = [this] { return reader_.load(); };
        rules_.holder_clock = [this] { return holder_.load(); };
        LeaseRules::replace(&rules_);
        {
            RunStore store(dir_ / "runs");
            run_ = store.create({}, dir_ / "shared");
        }
        renew();
    }
    void TearDown() override { LeaseRules::replace(nullptr); }
    /// As the other machine does.
    void renew() {
        const int number = ++renewals_;
        std::ofstream(run_.folder / "lease.1")
            << R"({"id":"x","host":"node7","boot":"b","pid_namespace":1,"process":12,"started":3,)"
            << "\"renewals\":" << number << "}\n";
    }
    RunSummary found() { return *RunStore(dir_ / "runs").find("shared"); }

    const test_support::TempFolder dir_;
    std::atomic<double> reader_{1000}, holder_{5000};
    LeaseRules rules_ = LeaseRules::standard();
    RunStore::NewRun run_;
    int renewals_ = 0;
};

TEST_F(RunElsewhere, IsRunningThereUntilThatMachineHasBeenSilentForLong) {
    RunSummary run = found();
    EXPECT_EQ(run.state, "running");
    EXPECT_EQ(run.host, "node7");
    EXPECT_FALSE(is_silent(run));
    reader_ = 1045;
    renew();
    EXPECT_EQ(found().silent_s, 0);
    reader_ = 1100;
    run = found();
    EXPECT_EQ(run.state, "running");
    EXPECT_EQ(run.silent_s, 55) << "each program goes on with what the one before it saw";
    EXPECT_TRUE(is_silent(run));
    reader_ = 1136;
    run = found();
    EXPECT_EQ(run.state, "interrupted");
    EXPECT_EQ(run.host, "");
    EXPECT_EQ(RunStore(dir_ / "runs").list().front().state, "interrupted");
}

TEST_F(RunElsewhere, IsRefusedToOthersMeanwhileWithTheReason) {
    RunStore store(dir_ / "runs");
    const auto resume = [&] { store.reopen(run_.folder, 0); };
    const auto remove = [&] { store.remove("shared", [](const fs::path&) { FAIL(); }); };
    EXPECT_THAT(message_of(ErrorCode::state, resume), HasSubstr("is being trained on node7"));
    EXPECT_THAT(message_of(ErrorCode::state, remove), HasSubstr("is being trained on node7"));
    reader_ = 1080;
    EXPECT_THAT(message_of(ErrorCode::state, resume),
                HasSubstr("on node7, which has been silent for 80 s"));
    reader_ = 1091;
    const auto resumed = store.reopen(run_.folder, 0);
    EXPECT_TRUE(fs::exists(run_.folder / "lease.2"));
    EXPECT_FALSE(fs::exists(run_.folder / "lease.1"));
    EXPECT_EQ(store.find("shared")->state, "running");
    EXPECT_EQ(store.find("shared")->host, "");
    store.append(done_of(resumed.run));
    EXPECT_EQ(found().state, "done");
}

TEST_F(RunElsewhere, IsShownAsItIsOnceTheTruthIsKnown) {
    (void)found();
    reader_ = 1091;
    EXPECT_EQ(found().state, "interrupted");
    renew();  // its machine was asleep
    EXPECT_EQ(found().state, "running");
    EXPECT_EQ(RunStore(dir_ / "runs").list().front().host, "node7");
    append_lines(run_.folder / events_file, to_json_line(done_of("shared")) + "\n");
    fs::remove(run_.folder / "lease.1");
    EXPECT_EQ(found().state, "done");
    renew();  // it was resumed there, with a history of its own
    append_lines(run_.folder / events_file,
                   to_json_line(RunResumed{"shared", 5, 0, "", {}}) + "\n");
    EXPECT_EQ(found().state, "running");
}

TEST_F(RunElsewhere, IsRunningInAHistoryThatIsBuiltAnew) {
    RunStore store(dir_ / "runs");
    store.rebuild();
    EXPECT_EQ(store.find("shared")->state, "running");
    RunStore other(dir_ / "other");
    EXPECT_EQ(other.enter(run_.folder).state, "running");
}

TEST_F(RunElsewhere, IsJudgedByItsFolderAloneToo) {
    const auto read = [&] {
        auto run = read_run_folder(run_.folder)->summary;
        RunStore(dir_ / "other").look_at_holder(run);
        return run;
    };
    EXPECT_EQ(read_run_folder(run_.folder)->summary.host, "node7");
    EXPECT_EQ(read().state, "running");
    reader_ = 1080;
    EXPECT_EQ(read().silent_s, 80);
    reader_ = 1091;
    EXPECT_EQ(read().state, "interrupted");
    EXPECT_EQ(read().host, "");
}

TEST_F(RunElsewhere, WritesNothingMoreWhenItWasTakenOver) {
    RunStore store(dir_ / "runs");
    const auto run = store.create({});
    store.check_folder(run.run);
    std::ofstream(run.folder / "lease.2") << "another program";
    holder_ = holder_ + 61;  // its machine was asleep
    EXPECT_THROW(store.check_folder(run.run), Error);
    store.append(done_of(run.run));
    EXPECT_THAT(read_text(run.folder / events_file), testing::Not(HasSubstr("done")));
    EXPECT_EQ(store.find(run.run)->state, "running") << "as its folder says";
    EXPECT_TRUE(fs::exists(run.folder / "lease.2"));
}

TEST_F(RunElsewhere, ItsFoldersAreNotSwept) {
    const auto lease = R"({"id":"x","host":"h","boot":"b","pid_namespace":1,"process":1})";
    for (const char* name : {"5", ".import-abc"}) {
        fs::create_directories(dir_ / "runs" / name);
        std::ofstream(dir_ / "runs" / name / "lease.1") << lease;
    }
    { RunStore store(dir_ / "runs"); }
    EXPECT_TRUE(fs::exists(dir_ / "runs/5"));
    EXPECT_TRUE(fs::exists(dir_ / "runs/.import-abc"));
    reader_ = 1091;
    { RunStore store(dir_ / "runs"); }
    EXPECT_FALSE(fs::exists(dir_ / "runs/5"));
    EXPECT_FALSE(fs::exists(dir_ / "runs/.import-abc"));
}

/// A folder of runs with what killed programs leave.
class Leftovers : public testing::Test {
protected:
    void make_old(const fs::path& path) {
        const timespec when{::time(nullptr) - 100, 0};
        const timespec times[] = {when, when};
        ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
    }
    static void write(const fs::path& file) {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << "x";
    }
    const test_support::TempFolder dir_;
};

TEST_F(Leftovers, OfAKilledImportAreSweptAtAStart) {
    const pid_t child = ::fork();
    if (child == 0) {
        LeaseSighting seen;
        LeaseState holder;
        fs::create_directory(dir_ / ".import-xyz");
        const auto hold = RunHold::try_take(dir_ / ".import-xyz", seen, holder);
        write(dir_ / ".import-xyz/run/checkpoint-3/state.json");
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    write(dir_ / ".import-young/run/config.json");  // of an earlier version
    write(dir_ / ".import-old/run/config.json");
    make_old(dir_ / ".import-old");
    LeaseSighting seen;
    LeaseState holder;
    fs::create_directory(dir_ / ".import-held");
    const auto held = RunHold::try_take(dir_ / ".import-held", seen, holder);
    RunStore store(dir_.path());
    EXPECT_FALSE(fs::exists(dir_ / ".import-xyz"));
    EXPECT_TRUE(fs::exists(dir_ / ".import-young"));
    EXPECT_FALSE(fs::exists(dir_ / ".import-old"));
    EXPECT_TRUE(fs::exists(dir_ / ".import-held"));
}

TEST_F(Leftovers, OfAKilledStartAreSweptUnlessTheyMayBeOfOneThatGoesOn) {
    for (const char* name : {"1", "2", "3", "4", "notes"}) fs::create_directory(dir_ / name);
    write(dir_ / "2/config.json.77.part");
    write(dir_ / "3/thesis.txt");
    for (const char* name : {"1", "2", "3", "notes"}) make_old(dir_ / name);
    FileLock::replace_flock(&flock_that_locks_nothing);
    { RunStore store(dir_.path()); }
    EXPECT_FALSE(fs::exists(dir_ / "1"));
    EXPECT_FALSE(fs::exists(dir_ / "2"));
    EXPECT_TRUE(fs::exists(dir_ / "3/thesis.txt"));
    EXPECT_TRUE(fs::exists(dir_ / "4")) << "its program may be about to take its lease";
    FileLock::replace_flock(nullptr);
    { RunStore store(dir_.path()); }
    EXPECT_FALSE(fs::exists(dir_ / "4")) << "nobody makes a run while the root is locked";
    EXPECT_TRUE(fs::exists(dir_ / "notes"));
}

TEST_F(Leftovers, OfAKilledRunAreSweptAtAStart) {
    const pid_t child = ::fork();
    if (child == 0) {
        RunStore store(dir_.path());
        const fs::path run = store.create({}).folder;
        write(run / ("inputs.json." + std::to_string(::getpid()) + ".part"));
        write(run / "checkpoint-20.part/weights.safetensors");
        write(run / ("skips/7.json." + std::to_string(::getpid()) + ".part"));
        write(run / "steps.rec.part");
        write(run / "lease.1.part");
        write(run / ("notes.json." + std::to_string(::getppid()) + ".part"));  // of a living one
        write(run / "checkpoint-10/weights.safetensors");
        write(run / "checkpoint-10.old.part/weights.safetensors");
        write(run / "checkpoint-20.old.part/weights.safetensors");
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    { RunStore store(dir_.path()); }
    std::vector<std::string> parts;
    for (const auto& entry : fs::recursive_directory_iterator(dir_ / "1"))
        if (entry.path().string().ends_with(".part"))
            parts.push_back(entry.path().filename().string());
    EXPECT_THAT(parts, testing::ElementsAre("notes.json." + std::to_string(::getpid()) + ".part"));
    EXPECT_TRUE(fs::exists(dir_ / "1/checkpoint-10/weights.safetensors"));
    EXPECT_TRUE(fs::exists(dir_ / "1/checkpoint-20/weights.safetensors"))
        << "the one that was about to be replaced is back";
}

TEST_F(Leftovers, OfARunThatIsTrainedStay) {
    RunStore theirs(dir_.path());
    const fs::path run = theirs.create({}).folder;
    write(run / "checkpoint-20.part/weights.safetensors");
    write(run / "checkpoint-20.old.part/weights.safetensors");
    { RunStore store(dir_.path()); }
    EXPECT_TRUE(fs::exists(run / "checkpoint-20.part/weights.safetensors"));
    EXPECT_TRUE(fs::exists(run / "checkpoint-20.old.part/weights.safetensors"));
}

}  // namespace
}  // namespace engine
