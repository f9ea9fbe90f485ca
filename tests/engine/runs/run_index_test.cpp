// The index of the run folders: damaged, locked by another program, out of date, or with runs that
// it does not list.
#include "runs/run_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <random>

#include "done_of.h"
#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "kept_history.h"
#include "record/step_record.h"
#include "support/part_figures.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Trains in a store like a session, then lists the store.
std::vector<RunSummary> train_once(RunStore& store) {
    const auto run = store.create({});
    store.append(EpochDone{run.run, 1, 20, classified(0.6, 0.7), {}, classified(0.5, 0.8), 1});
    store.append(done_of(run.run));
    return store.list();
}

TEST(RunIndex, ARunThatEndedSinceItWasReadIsNotInterrupted) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    RunIndex other(dir / "runs.db");
    const auto read = other.find(run.run);  // another process reads "running",
    store.append(done_of(run.run));         // the run ends and releases its lock,
    EXPECT_EQ(other.settle(*read, false).state,
              "done");  // and the other process finds the lock free
    EXPECT_EQ(store.find(run.run)->state, "done");
}

TEST(RunIndex, ARunWhoseEndIsInItsFolderAloneIsTakenFromThere) {
    test_support::TempFolder dir;
    std::string run;
    {
        RunStore store(dir.path());
        run = store.create({}).run;
        store.append(done_of(run));
    }
    change_index(dir.path(), "UPDATE runs SET state = 'running', steps = 0");
    RunStore store(dir.path());
    EXPECT_EQ(store.find(run)->state, "done");
    EXPECT_EQ(store.find(run)->steps, 20);
    EXPECT_THAT(store.events(run), SizeIs(1));
}

TEST(RunIndex, DamageToTheSchemaIsMendedAtTheStart) {
    for (const char* damage : {"DROP TABLE settings", "DROP TABLE runs", "DROP TABLE events",
                               "ALTER TABLE runs DROP COLUMN made", "PRAGMA user_version = 9",
                               "PRAGMA user_version = 0", "PRAGMA user_version = -7"}) {
        test_support::TempFolder dir;
        make_history(dir.path());
        change_index(dir.path(), damage);
        RunStore store(dir.path());
        const auto warnings = store.take_warnings();
        ASSERT_THAT(warnings, SizeIs(1)) << damage;
        EXPECT_THAT(warnings[0].str(), HasSubstr("runs.db.damaged-"));
        EXPECT_THAT(train_once(store), SizeIs(4)) << damage;
    }
}

TEST(RunIndex, AnIndexOfAnEarlierProgramGetsTheTablesThatItLacks) {
    const test_support::TempFolder folder;
    make_history(folder.path());
    change_index(folder.path(),
                 "DROP TABLE titles; DROP TABLE divergences; DROP TABLE metrics; "
                 "DROP TABLE stars; DROP TABLE run_groups");
    RunStore store(folder.path());
    EXPECT_THAT(store.list(), SizeIs(3));
    EXPECT_EQ(store.find("2")->test.loss, 0.5);
    EXPECT_EQ(store.find("2")->test.of("accuracy"), 0.83)
        << "which stands in the table of the runs";
    EXPECT_EQ(store.find("2")->metrics, classification_metrics());
    store.set_title("2", "the second");
    EXPECT_EQ(store.find("2")->title, "the second");
    store.set_starred("2", true);
    EXPECT_TRUE(store.find("2")->starred);
    EXPECT_THAT(store.take_warnings(), IsEmpty()) << "it was not damaged";
}

TEST(RunIndex, DamageFoundDuringACallIsMendedAndTheCallRepeated) {
    for (const char* damage :
         {"DROP TABLE settings", "DROP TABLE runs", "DELETE FROM settings",
          "UPDATE runs SET steps = x'00'", "UPDATE runs SET id = '' WHERE id = '2'",
          "INSERT OR REPLACE INTO metrics SELECT id, '{' FROM runs",
          "INSERT OR REPLACE INTO metrics SELECT id, '{\"metrics\":[{}]}' FROM runs",
          "INSERT OR REPLACE INTO metrics SELECT id, '{\"metrics\":3,\"unit\":4}' FROM runs",
          "INSERT OR REPLACE INTO metrics SELECT id, '{\"metrics\":[],\"test\":5}' FROM runs"}) {
        test_support::TempFolder dir;
        make_history(dir.path());
        RunStore store(dir.path());
        change_index(dir.path(), damage);
        EXPECT_THAT(store.list(), SizeIs(3)) << damage;
        EXPECT_THAT(store.take_warnings(), SizeIs(1)) << damage;
    }
}

TEST(RunIndex, DamageFoundWhileARunTrainsDoesNotEndIt) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    change_index(dir.path(), "DROP TABLE runs");
    EXPECT_NO_THROW(store.append(done_of(run.run)));
    EXPECT_EQ(store.find(run.run)->state, "done");
}

TEST(RunIndex, TwoThatFindTheDamageAtOnceBuildOneIndex) {
    test_support::TempFolder dir;
    make_history(dir.path());
    RunStore first(dir.path()), second(dir.path());
    change_index(dir.path(), "DROP TABLE settings");
    EXPECT_THAT(first.list(), SizeIs(3));
    EXPECT_THAT(second.list(), SizeIs(3));
    EXPECT_THAT(second.take_warnings(), IsEmpty()) << "the first had mended it";
    EXPECT_THAT(train_once(second), SizeIs(4));
    EXPECT_THAT(first.list(), SizeIs(4)) << "both use the new file";
}

TEST(RunIndex, RunsElsewhereSurviveARebuildAfterDamage) {
    test_support::TempFolder dir;
    {
        RunStore store(dir / "runs");
        store.append(done_of(store.create({}, dir / "elsewhere/mine").run));
    }
    change_index(dir / "runs", "DROP TABLE settings");
    RunStore store(dir / "runs");
    EXPECT_EQ(store.find("mine")->state, "done");
}

TEST(RunIndex, RandomDamageNeverStopsTraining) {
    test_support::TempFolder dir;
    make_history(dir / "kept");
    std::mt19937 random(20261122);
    const auto below = [&](std::uintmax_t end) { return random() % end; };
    for (int i = 0; i < 60; ++i) {
        const fs::path root = dir / std::to_string(i);
        fs::copy(dir / "kept", root, fs::copy_options::recursive);
        const auto size = fs::file_size(root / "runs.db");
        {
            std::fstream file(root / "runs.db", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(below(size)));
            for (auto count = 1 + below(400); count > 0; --count)
                file.put(static_cast<char>(below(256)));
        }
        const auto store = RunStore::open(root);
        EXPECT_EQ(train_once(*store).front().state, "done") << "damage " << i;
        fs::remove_all(store->root());  // a temporary folder if it seems to be of a later version
        fs::remove_all(root);
    }
}

TEST(RunIndex, AnIndexOfALaterVersionIsKeptAndTrainingGoesElsewhere) {
    test_support::TempFolder dir;
    make_history(dir.path());
    change_index(dir.path(), "ALTER TABLE runs ADD COLUMN mood TEXT; PRAGMA user_version = 2");
    EXPECT_THAT(index_error([&] { RunStore store(dir.path()); }), HasSubstr("later version"));
    const auto store = RunStore::open(dir.path());
    EXPECT_NE(store->root(), dir.path());
    EXPECT_THAT(train_once(*store), SizeIs(1));
    EXPECT_THAT(store->take_warnings().front().str(), HasSubstr("later version"));
    fs::remove_all(store->root());
    EXPECT_THAT(index_error([&] { RunStore again(dir.path()); }), HasSubstr("later version"));
}

TEST(RunIndex, AnIndexThatCannotBeMendedInPlaceLeavesTrainingATemporaryFolder) {
    test_support::TempFolder dir;
    fs::create_directories(dir / "runs.db" / "in the way");
    const auto store = RunStore::open(dir.path());
    EXPECT_NE(store->root(), dir.path());
    const auto warnings = store->take_warnings();
    ASSERT_FALSE(warnings.empty());
    EXPECT_THAT(warnings.back().str(), HasSubstr(store->root().string()));
    EXPECT_THAT(train_once(*store), SizeIs(1));
    fs::remove_all(store->root());
}

/// The seconds that `act` takes.
double seconds(const std::function<void()>& act) {
    const auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Locks the index as another program would: only for writers, or for everybody.
class Holder {
public:
    Holder(const fs::path& root, bool readers_too) : database_(root / "runs.db") {
        if (readers_too) database_.run("PRAGMA locking_mode = EXCLUSIVE");
        database_.run("BEGIN EXCLUSIVE");
        database_.run("UPDATE runs SET steps = steps");
    }
    void release() { database_.run("ROLLBACK; PRAGMA locking_mode = NORMAL; SELECT 1 FROM runs"); }

private:
    Database database_;
};

TEST(RunIndex, AnIndexThatAnotherProgramHoldsDoesNotSlowTrainingDown) {
    test_support::TempFolder dir;
    make_history(dir.path());
    Holder holder(dir.path(), /*readers_too=*/false);
    std::string run;
    const double time = seconds([&] {
        RunStore store(dir.path());
        run = store.create({}).run;
        for (int i = 1; i <= 200; ++i) store.append(RunWarning{run, msg("number {}", i), i});
        store.append(done_of(run));
    });
    EXPECT_LT(time, 10) << "for 202 events, each of which tries once";
    holder.release();
    RunStore store(dir.path());
    EXPECT_EQ(store.find(run)->state, "done") << "entered at the next start";
    EXPECT_THAT(store.events(run), SizeIs(201));
    EXPECT_THAT(store.take_warnings(), IsEmpty());
}

TEST(RunIndex, WhatWaitedForAnotherProgramIsEnteredWithALaterCall) {
    test_support::TempFolder dir;
    make_history(dir.path());
    RunStore store(dir.path()), other(dir.path());
    Holder holder(dir.path(), false);
    const auto run = store.create({});
    store.append(RunWarning{run.run, msg("first"), 1});
    EXPECT_FALSE(other.find(run.run).has_value());
    holder.release();
    store.append(RunWarning{run.run, msg("second"), 2});
    EXPECT_THAT(store.events(run.run), SizeIs(2));
    EXPECT_EQ(other.find(run.run)->state, "running");
}

TEST(RunIndex, EventsThatAnotherProcessEnteredFromTheFolderAreNotDoubled) {
    test_support::TempFolder dir;
    RunStore store(dir.path()), other(dir.path());
    Holder holder(dir.path(), false);
    const auto run = store.create({});
    store.append(RunWarning{run.run, msg("first"), 1});
    holder.release();
    other.rebuild();
    EXPECT_THAT(other.events(run.run), SizeIs(1));
    store.append(done_of(run.run));
    EXPECT_THAT(store.events(run.run), SizeIs(2));
}

TEST(RunIndex, PeopleAreToldThatAnotherProgramHoldsTheIndex) {
    test_support::TempFolder dir;
    make_history(dir.path());
    // In another process, since connections of one process share its locks.
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        Holder holder(dir.path(), /*readers_too=*/true);
        (void)!::write(ready[1], "x", 1);
        ::pause();
    }
    char byte;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    {
        RunStore store(dir.path());
        const std::string error = index_error([&] { (void)store.list(); });
        EXPECT_THAT(error, HasSubstr("another program is using the run history"));
        EXPECT_THAT(error, Not(HasSubstr("can be written")));
        const auto run = store.create({});
        EXPECT_LT(seconds([&] { store.append(done_of(run.run)); }), 5);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_THAT(RunStore(dir.path()).list(), SizeIs(4));
}

/// The error of opening the store and writing long notes while no file may exceed this size, which
/// simulates a full disk. Runs in its own process. Empty: no error.
std::string error_on_a_disk_of(const fs::path& root, rlim_t bytes) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, bytes};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const std::string error = index_error([&] {
            RunStore store(root);
            for (int i = 0; i < 8; ++i)
                store.set_notes("1", std::string(8000, static_cast<char>('a' + i)));
        });
        (void)!::write(ends[1], error.data(), error.size());
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string error;
    std::array<char, 1024> piece{};
    for (ssize_t n = 0; (n = ::read(ends[0], piece.data(), piece.size())) > 0;)
        error.append(piece.data(), static_cast<std::size_t>(n));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return error;
}

TEST(RunIndex, AFullDiskIsNamedWhicheverFileOfTheIndexMeetsIt) {
    test_support::TempFolder dir;
    make_history(dir.path());
    const std::string index = (dir.path() / "runs.db").string(),
                      notes = (dir.path() / "1/notes.json").string(),
                      sentence = ": the disk is full Free some space, or give another folder.";
    int refused = 0;
    for (rlim_t bytes = 0; bytes <= 400'000; bytes += 8000) {
        const std::string error = error_on_a_disk_of(dir.path(), bytes);
        if (error.empty()) break;
        ++refused;
        // If the notes' own file fails first, the sentence is about that one.
        EXPECT_TRUE(error == index + sentence || error == notes + sentence)
            << bytes << ": " << error;
    }
    EXPECT_GT(refused, 5) << "the index, its log and the log's map are of different sizes";
    EXPECT_LT(refused, 50) << "there is room at last";
    EXPECT_EQ(RunStore(dir.path()).find("1")->state, "done") << "nothing was damaged";
}

}  // namespace
}  // namespace engine
