#include "engine/runs/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "done_of.h"
#include "engine/base/error.h"
#include "engine/runs/run_group.h"
#include "engine/runs/run_listing.h"
#include "engine/train/resume.h"
#include "record/step_record.h"
#include "support/long_run.h"
#include "support/part_figures.h"
#include "support/peak_memory.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Creates a run in a child process that then dies without an end event.
void make_run_and_die(const fs::path& root, std::int64_t steps) {
    const pid_t child = ::fork();
    if (child == 0) {
        RunStore store(root);
        const auto run = store.create(config_with_seed(5));
        auto record = StepRecordWriter::create(run.folder);
        for (std::int64_t i = 1; i <= steps; ++i) {
            StepRecord step{};
            step.step = i;
            step.updates = i - 1;
            step.samples = i * 10;
            step.elapsed_s = static_cast<double>(i);
            step.step_ms = 1000;
            record.append(step);
        }
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(RunStore, GivesEachRunANumberedFolderWithItsSettings) {
    test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const auto first = store.create(config_with_seed(3));
    const auto second = store.create(config_with_seed(4));
    EXPECT_EQ(first.run, "1");
    EXPECT_EQ(second.run, "2");
    EXPECT_EQ(first.folder, dir / "runs" / "1");
    EXPECT_EQ(parse_run_config(text_of(first.folder / "config.json")).config, config_with_seed(3));
}

TEST(RunStore, ListsRunsNewestFirstWithTheirFigures) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto first = store.create(config_with_seed(3));
    const auto second = store.create(config_with_seed(4));
    store.append(EpochDone{first.run, 1, 20, classified(0.6, 0.7), {}, classified(0.5, 0.8), 1});
    store.append(done_of(first.run));
    const auto runs = store.list();
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_EQ(runs[0].run, second.run);
    EXPECT_EQ(runs[0].state, "running");
    EXPECT_TRUE(std::isnan(runs[0].test.loss));
    EXPECT_EQ(runs[1].state, "done");
    EXPECT_EQ(runs[1].config, config_with_seed(3));
    EXPECT_EQ(runs[1].steps, 20);
    EXPECT_EQ(runs[1].skipped, 2);
    EXPECT_EQ(runs[1].test.of("accuracy"), 0.83);
    EXPECT_EQ(runs[1].peak_bytes, 1024);
    EXPECT_THAT(runs[1].started, testing::MatchesRegex("....-..-..T..:..:.."));
}

TEST(RunStore, EachEndHasItsState) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto state_after = [&](DoneReason reason) {
        const auto run = store.create({});
        RunDone done = done_of(run.run);
        done.reason = reason;
        store.append(done);
        return store.find(run.run)->state;
    };
    EXPECT_EQ(state_after(DoneReason::epochs), "done");
    EXPECT_EQ(state_after(DoneReason::max_steps), "done");
    EXPECT_EQ(state_after(DoneReason::stopped), "stopped");
    EXPECT_EQ(state_after(DoneReason::diverged), "diverged");
    EXPECT_EQ(state_after(DoneReason::failed), "failed");
    const auto run = store.create({});
    store.append(RunFailed{run.run, ErrorCode::data, msg("gone"), {}});
    EXPECT_EQ(store.find(run.run)->state, "failed");
}

TEST(RunStore, KeepsEventsInOrder) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    for (int i = 1; i <= 12; ++i) store.append(RunWarning{run.run, msg("number {}", i), i});
    store.append(done_of(run.run));
    const auto events = store.events(run.run);
    ASSERT_THAT(events, SizeIs(13));
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(std::get<RunWarning>(events[static_cast<std::size_t>(i)]).step, i + 1);
    }
    EXPECT_THAT(text_of(run.folder / "events.jsonl"), HasSubstr("\"event\":\"done\""));
}

TEST(RunStore, AnswersForARunThatItDoesNotKnow) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    EXPECT_FALSE(store.find("7").has_value());
    EXPECT_THAT(store.events("7"), IsEmpty());
    EXPECT_THROW(store.append(done_of("7")), Error);
    EXPECT_THROW(store.set_notes("7", "x"), Error);
}

TEST(RunStore, IndexesARunInAFolderThatWasGiven) {
    test_support::TempFolder dir;
    {
        RunStore store(dir / "runs");
        const auto run = store.create({}, dir / "elsewhere/mine");
        EXPECT_EQ(run.run, "mine");
        EXPECT_EQ(run.folder, fs::canonical(dir / "elsewhere/mine"));
        store.append(done_of(run.run));
        EXPECT_EQ(store.create({}, dir / "other/mine").run, "mine-2");
        store.rebuild();
    }
    RunStore store(dir / "runs");
    EXPECT_EQ(store.find("mine")->state, "done");
    EXPECT_THAT(store.list(), SizeIs(2));
}

TEST(RunStore, RefusesAGivenFolderThatHoldsSomething) {
    test_support::TempFolder dir;
    RunStore store(dir / "runs");
    std::ofstream(dir / "thesis.txt") << "precious";
    try {
        store.create({}, dir.path());
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), HasSubstr("is not empty"));
    }
    EXPECT_EQ(text_of(dir / "thesis.txt"), "precious");
}

TEST(RunStore, ARootThatCannotBeMadeIsAnError) {
    try {
        RunStore store("/proc/halftone/runs");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io);
        EXPECT_FALSE(error.hint().empty());
    }
}

TEST(RunStore, ALongRunIsReopenedInLittleMemory) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    constexpr std::int64_t skips = 16'000;
    const auto run = test::long_run(store, skips);
    std::int64_t earlier = 0;
    while (test::step_of_skip(earlier, skips) <= 400) ++earlier;
    const test::PeakMemory memory;
    const auto again = store.reopen(run.folder, 400);
    if (memory.known()) {
        EXPECT_LT(memory.grown(), 12 << 20) << "the events alone take about 18 MiB";
    }
    EXPECT_THAT(store.events(again.run), SizeIs(1 + 300 + 300 + earlier));
    store.append(RunWarning{again.run, msg("one more"), 401});
    EXPECT_THAT(store.events(again.run), SizeIs(1 + 300 + 300 + earlier + 1)) << "behind them";
}

TEST(RunStore, ARunWhoseFilesWereRemovedByHandIsMissingUntilTheyAreBack) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    std::vector<RunStore::NewRun> runs;
    for (int i = 0; i < 4; ++i) runs.push_back(store.create({}));
    for (int i = 0; i < 3; ++i) store.append(done_of(runs[i].run));
    store.set_notes(runs[0].run, "kept");
    fs::rename(runs[0].folder, dir / "aside");         // the whole folder
    fs::rename(runs[1].folder / "config.json", dir / "config");  // what makes it a run
    runs[3].hold.reset();
    const auto state = [&](std::size_t i) { return store.find(runs[i].run)->state; };
    EXPECT_EQ(state(0), "missing");
    EXPECT_EQ(state(1), "missing");
    EXPECT_EQ(state(2), "done");
    for (const RunSummary& run : store.list())
        EXPECT_EQ(run.state, state(static_cast<std::size_t>(std::stoi(run.run) - 1))) << run.run;
    EXPECT_EQ(store.find(runs[0].run)->notes, "kept");
    EXPECT_THAT(runs_table(store.list()), HasSubstr("missing"));
    try {
        plan_resume(*store.find(runs[0].run));
        FAIL() << "there is nothing to go on from";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.what(), HasSubstr("is gone"));
        EXPECT_THAT(error.hint().str(), HasSubstr("halftone delete 1"));
    }
    const std::vector<RunSummary> gone = {*store.find(runs[0].run), *store.find(runs[1].run)};
    EXPECT_EQ(group_state(gone), "missing");
    fs::rename(dir / "aside", runs[0].folder);
    EXPECT_EQ(state(0), "done") << "the disk is there again";
    store.remove(runs[1].run, [](const fs::path&) { FAIL() << "there is nothing to throw away"; });
    EXPECT_FALSE(store.find(runs[1].run));
}

TEST(RunStore, ARemovedRunIsGoneFromTheHistoryForGood) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto kept = store.create({});
    const auto removed = store.create({});
    store.append(done_of(kept.run));
    store.append(done_of(removed.run));
    store.set_title(removed.run, "a title");
    store.remove(removed.run, [&](const fs::path& folder) {
        EXPECT_EQ(folder, removed.folder);
        fs::remove_all(folder);
    });
    EXPECT_FALSE(store.find(removed.run).has_value());
    EXPECT_THAT(store.events(removed.run), SizeIs(0));
    store.rebuild();
    EXPECT_THAT(store.list(), SizeIs(1));
    EXPECT_THROW(store.remove(removed.run, [](const fs::path&) { FAIL(); }), Error);
}

TEST(RunStore, ARunStaysThatIsTrainedOrWhoseFolderStays) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    EXPECT_THROW(store.remove(run.run, [](const fs::path&) { FAIL() << "it is running"; }), Error);
    store.append(done_of(run.run));
    const auto fail = [](const fs::path&) { throw Error(ErrorCode::io, "no room in the trash"); };
    EXPECT_THROW(store.remove(run.run, fail), Error);
    EXPECT_EQ(store.find(run.run)->state, "done");
}

TEST(RunStore, ARunWhoseProcessDiedShowsAsInterruptedWithTheFiguresOfItsRecord) {
    test_support::TempFolder dir;
    make_run_and_die(dir.path(), 700);
    RunStore store(dir.path());
    const auto runs = store.list();
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_EQ(runs[0].state, "interrupted");
    EXPECT_EQ(runs[0].steps, 700);
    EXPECT_EQ(runs[0].skipped, 1);
    EXPECT_EQ(runs[0].wall_s, 700);
    EXPECT_EQ(runs[0].samples_per_s, 10);
    store.rebuild();
    EXPECT_EQ(store.list()[0].state, "interrupted");
}

TEST(RunStore, ARunOfAnotherLivingProcessIsRunning) {
    test_support::TempFolder dir;
    RunStore theirs(dir.path());
    const auto run = theirs.create({});
    RunStore ours(dir.path());
    EXPECT_EQ(ours.find(run.run)->state, "running");
    ours.rebuild();
    EXPECT_EQ(ours.find(run.run)->state, "running");
    theirs.append(done_of(run.run));
    EXPECT_EQ(ours.find(run.run)->state, "done");
}

TEST(RunStore, ProcessesThatShareARootNeverShareANumber) {
    test_support::TempFolder dir;
    constexpr int processes = 4;
    constexpr int runs_each = 8;
    for (int p = 0; p < processes; ++p) {
        if (::fork() != 0) continue;
        try {
            RunStore store(dir.path());
            for (int i = 0; i < runs_each; ++i) store.append(done_of(store.create({}).run));
            ::_exit(0);
        } catch (...) {
            ::_exit(1);
        }
    }
    for (int p = 0; p < processes; ++p) {
        int status = 0;
        ASSERT_GT(::wait(&status), 0);
        EXPECT_EQ(status, 0);
    }
    RunStore store(dir.path());
    const auto runs = store.list();
    std::set<std::string> ids;
    for (const auto& run : runs) ids.insert(run.run);
    EXPECT_EQ(runs.size(), static_cast<std::size_t>(processes * runs_each));
    EXPECT_EQ(ids.size(), runs.size());
    EXPECT_THAT(store.take_warnings(), IsEmpty());
}

TEST(RunStore, ThreadsMayShareAStore) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&store] {
            const auto run = store.create({});
            for (int i = 1; i <= 10; ++i) store.append(RunWarning{run.run, msg("w"), i});
            store.append(done_of(run.run));
        });
    }
    for (int i = 0; i < 10; ++i) (void)store.list();
    for (auto& thread : threads) thread.join();
    for (const auto& run : store.list()) EXPECT_THAT(store.events(run.run), SizeIs(11));
    EXPECT_THAT(store.list(), SizeIs(3));
}

TEST(RunStore, TheDefaultRootFollowsTheDesktopsFolders) {
    ::setenv("XDG_DATA_HOME", "/data", 1);
    EXPECT_EQ(RunStore::default_root(), "/data/halftone/runs");
    ::unsetenv("XDG_DATA_HOME");
    ::setenv("HOME", "/home/ada", 1);
    EXPECT_EQ(RunStore::default_root(), "/home/ada/.local/share/halftone/runs");
}

TEST(RunStore, EntersARunFromElsewhereWithItsOrigin) {
    test_support::TempFolder root, elsewhere;
    fs::path folder;
    {
        RunStore other(elsewhere / "runs");
        const auto made = other.create({}, elsewhere / "torch");
        RunStarted event{};
        event.run = made.run;
        event.origin = RunOrigin{.program = "PyTorch 2.15.0",
                                 .model = "ResNet",
                                 .dataset = "CIFAR-10",
                                 .optimizer = "SGD",
                                 .epochs = 3,
                                 .shares_every = 10,
                                 .settings = {{"lr", "0.1"}}};
        other.append(event);
        other.append(done_of(made.run));
        folder = made.folder;
    }
    RunStore store(root.path());
    const RunSummary run = store.enter(folder);
    EXPECT_EQ(run.run, "torch");
    EXPECT_EQ(run.state, "done");
    EXPECT_EQ(store.enter(folder).run, "torch") << "once";
    ASSERT_THAT(store.list(), SizeIs(1));
    const RunSummary listed = store.list().front();
    ASSERT_TRUE(listed.origin);
    EXPECT_EQ(*listed.origin, *run.origin);
    EXPECT_EQ(listed.origin->settings.front().second, "0.1");
    EXPECT_EQ(model_name(listed), "ResNet");
    EXPECT_EQ(dataset_name(listed), "CIFAR-10");
    store.rebuild();
    ASSERT_THAT(store.list(), SizeIs(1));
    EXPECT_EQ(*store.list().front().origin, *listed.origin) << "from the folder alone, too";
}

TEST(RunStore, RefusesToEnterWhatIsNoRun) {
    test_support::TempFolder root, elsewhere;
    RunStore store(root.path());
    EXPECT_THROW(store.enter(elsewhere.path()), Error);
    EXPECT_THROW(store.enter(elsewhere / "absent"), Error);
    std::ofstream(elsewhere / "config.json") << "{}\n";  // a model of another program
    EXPECT_THROW(store.enter(elsewhere.path()), Error);
    EXPECT_THAT(store.list(), IsEmpty());
}

}  // namespace
}  // namespace engine
