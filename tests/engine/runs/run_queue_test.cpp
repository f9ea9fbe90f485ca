#include "engine/runs/run_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "engine/base/error.h"
#include "runs/database.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test_support::TempFolder;
using testing::ElementsAre;
using testing::IsEmpty;

QueueEntry entry(const std::string& label, const std::string& batch = "") {
    RunConfig config;
    config.seed = std::hash<std::string>()(label) % 1000;
    return {completed(config), label, batch};
}

std::vector<std::string> queued_labels(const std::vector<QueuedRun>& runs) {
    std::vector<std::string> out;
    for (const QueuedRun& run : runs) out.push_back(run.entry.label);
    return out;
}

std::string taken_label(RunQueue& queue, const std::optional<std::string>& batch = {}) {
    auto taken = queue.take(batch);
    if (!taken) return "none";
    const std::string label = taken->queued().entry.label;
    taken->finish(QueueState::done);
    return label;
}

/// Runs f in a child process, which then dies as if by kill -9.
template <typename F>
void in_killed_process(F&& f) {
    const pid_t child = ::fork();
    if (child == 0) {
        f();
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(RunQueue, KeepsSettingsLabelAndOrderOverARestart) {
    const TempFolder folder;
    const QueueEntry first = entry("first", "a"), second = entry("second");
    std::vector<std::int64_t> ids;
    {
        RunQueue queue(folder.path());
        ids = queue.add({first, second});
    }
    RunQueue queue(folder.path());
    const auto runs = queue.list();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].id, ids[0]);
    EXPECT_EQ(runs[0].entry.config, first.config);
    EXPECT_EQ(runs[0].entry.label, "first");
    EXPECT_EQ(runs[0].entry.batch, "a");
    EXPECT_EQ(runs[0].state, QueueState::waiting);
    EXPECT_EQ(runs[1].entry.config, second.config);
}

TEST(RunQueue, GivesTheRunsOneByOneAndEachOnce) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    queue.add({entry("a"), entry("b")});
    EXPECT_EQ(taken_label(queue), "a");
    EXPECT_EQ(taken_label(queue), "b");
    EXPECT_EQ(taken_label(queue), "none");
}

TEST(RunQueue, TakesAndListsOneBatchAlone) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    queue.add({entry("a"), entry("b", "sweep"), entry("c")});
    EXPECT_THAT(queued_labels(queue.list("sweep")), ElementsAre("b"));
    EXPECT_THAT(queued_labels(queue.list("")), ElementsAre("a", "c"));
    EXPECT_EQ(taken_label(queue, "sweep"), "b");
    EXPECT_EQ(taken_label(queue, "sweep"), "none");
    EXPECT_EQ(taken_label(queue, ""), "a");
}

TEST(RunQueue, ARunThatItsBatchHasAlreadyIsNotAddedAgain) {
    const TempFolder folder;
    RunQueue queue(folder.path()), other(folder.path());
    queue.add({entry("a", "sweep"), entry("a")});
    EXPECT_EQ(other.add({entry("a", "sweep"), entry("b", "sweep"), entry("a")}).size(), 2u);
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("a", "a", "b", "a"));
}

TEST(RunQueue, ARunThatIsTakenIsRunningForEveryProcessAndKnowsItsRun) {
    const TempFolder folder;
    RunQueue queue(folder.path()), other(folder.path());
    queue.add({entry("a")});
    auto taken = queue.take();
    ASSERT_TRUE(taken);
    taken->set_run("17");
    EXPECT_FALSE(other.take());
    const auto seen = other.list().at(0);
    EXPECT_EQ(seen.state, QueueState::running);
    EXPECT_EQ(seen.run, "17");
    taken->finish(QueueState::failed);
    EXPECT_EQ(other.list().at(0).state, QueueState::failed);
    EXPECT_EQ(other.list().at(0).run, "17");
    EXPECT_FALSE(other.take());
}

TEST(RunQueue, ARunThatIsGivenBackWaitsInItsOldPlace) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    queue.add({entry("a"), entry("b")});
    {
        auto dropped = queue.take();
        dropped->set_run("5");
    }
    auto returned = queue.take();
    ASSERT_TRUE(returned);
    EXPECT_EQ(returned->queued().run, "5") << "what was begun can go on";
    returned->finish(QueueState::waiting);
    EXPECT_EQ(taken_label(queue), "a");
}

TEST(RunQueue, ARunWhoseProcessWasKilledWaitsAgain) {
    const TempFolder folder;
    RunQueue(folder.path()).add({entry("a"), entry("b")});
    in_killed_process([&] {
        RunQueue queue(folder.path());
        auto done = queue.take();
        done->finish(QueueState::done);
        auto taken = new std::optional<RunQueue::Taken>(queue.take());
        (*taken)->set_run("9");
    });
    RunQueue queue(folder.path());
    EXPECT_EQ(queue.list().at(0).state, QueueState::done);
    EXPECT_EQ(queue.list().at(1).state, QueueState::waiting);
    EXPECT_EQ(taken_label(queue), "b");
    EXPECT_EQ(taken_label(queue), "none");
}

TEST(RunQueue, TwoProcessesShareTheRunsWithoutTakingOneTwice) {
    const TempFolder folder;
    constexpr int count = 40;
    std::vector<QueueEntry> entries;
    for (int i = 0; i < count; ++i) entries.push_back(entry(std::to_string(i)));
    RunQueue(folder.path()).add(entries);
    const auto work = [&](const std::string& who, int most) {
        RunQueue queue(folder.path());
        for (int i = 0; i < most; ++i) {
            auto taken = queue.take();
            if (!taken) return;
            taken->set_run(who);
            taken->finish(QueueState::done);
        }
    };
    const pid_t child = ::fork();
    if (child == 0) {
        work("child", count / 2);
        ::_exit(0);
    }
    EXPECT_TRUE(comes_true([&] {
        return std::ranges::any_of(RunQueue(folder.path()).list(),
                                   [](const QueuedRun& run) { return run.run == "child"; });
    }));
    work("parent", count);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::map<std::string, int> shares;
    for (const QueuedRun& run : RunQueue(folder.path()).list()) {
        EXPECT_EQ(run.state, QueueState::done);
        ++shares[run.run];
    }
    EXPECT_EQ(shares["child"] + shares["parent"], count);
    EXPECT_GT(shares["child"], 0);
    EXPECT_GT(shares["parent"], 0);
}

TEST(RunQueue, MovesARunBeforeAnotherOrToTheEnd) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    const auto ids = queue.add({entry("a"), entry("b"), entry("c")});
    queue.move(ids[2], ids[0]);
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("c", "a", "b"));
    queue.move(ids[0], 0);
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("c", "b", "a"));
    queue.move(ids[1], ids[1]);
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("c", "b", "a"));
    queue.add({entry("d")});
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("c", "b", "a", "d"));
    EXPECT_THROW(queue.move(999, ids[0]), Error);
    EXPECT_THROW(queue.move(ids[0], 999), Error);
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("c", "b", "a", "d"));
}

TEST(RunQueue, RemovesWhatDoesNotRunAndNeverGivesAnIdTwice) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    const auto ids = queue.add({entry("a"), entry("b")});
    const auto taken = queue.take();
    EXPECT_THROW(queue.remove(ids[0]), Error);
    queue.remove(ids[1]);
    queue.remove(12345);
    EXPECT_THAT(queued_labels(queue.list()), ElementsAre("a"));
    EXPECT_GT(queue.add({entry("c")}).front(), ids[1]);
}

TEST(RunQueue, ARunThatIsResetIsTrainedAgain) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    const auto ids = queue.add({entry("a")});
    EXPECT_EQ(taken_label(queue), "a");
    queue.reset(ids[0]);
    auto taken = queue.take();
    ASSERT_TRUE(taken);
    EXPECT_THROW(queue.reset(ids[0]), Error);
}

void write_config(const TempFolder& folder, const std::string& config) {
    Database database(folder / "queue.db");
    Statement(database, "UPDATE queue SET config = ?").bind(config).run();
}

TEST(RunQueue, SettingsThatThisVersionRefusesAreListedWithTheirErrorsAndNotTaken) {
    const TempFolder folder;
    RunQueue(folder.path()).add({entry("a")});
    write_config(folder, R"({"model": {"kind": "of-tomorrow"}})");
    RunQueue queue(folder.path());
    ASSERT_EQ(queue.list().at(0).errors.size(), 1u);
    EXPECT_EQ(queue.list().at(0).errors[0].field, "model.kind");
    EXPECT_FALSE(queue.take());
}

/// A run that a job of the cluster trains.
std::int64_t add_submitted(RunQueue& queue) {
    QueueEntry wanted = entry("job");
    wanted.where = QueuePlace::slurm;
    const std::int64_t id = queue.add({wanted}).front();
    auto taken = queue.take({}, QueuePlace::slurm);
    taken->set_job({"41", "/jobs/1", JobNote::waits, "Priority"});
    taken->finish(QueueState::submitted);
    return id;
}

TEST(RunQueue, ARunIsTakenForItsPlaceAlone) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    const auto ids = queue.add({entry("a"), entry("b")});
    queue.set_where(ids[0], QueuePlace::slurm);
    EXPECT_EQ(queue.list()[0].entry.where, QueuePlace::slurm);
    EXPECT_EQ(taken_label(queue), "b");
    EXPECT_EQ(taken_label(queue), "none");
    auto taken = queue.take({}, QueuePlace::slurm);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->queued().entry.label, "a");
}

TEST(RunQueue, AJobOutlivesTheProgramsAndCannotBeRemoved) {
    const TempFolder folder;
    const std::int64_t id = [&] {
        RunQueue queue(folder.path());
        return add_submitted(queue);
    }();
    RunQueue queue(folder.path());
    QueuedRun run = queue.list().at(0);
    EXPECT_EQ(run.state, QueueState::submitted);
    EXPECT_EQ(run.job, (ClusterJob{"41", "/jobs/1", JobNote::waits, "Priority"}));
    EXPECT_THROW(queue.remove(id), Error);
    EXPECT_THROW(queue.reset(id), Error);
    EXPECT_THROW(queue.set_where(id, QueuePlace::here), Error);
    run.state = QueueState::running;
    run.run = "7";
    queue.update_job(run);
    EXPECT_EQ(queue.list().at(0).state, QueueState::running) << "no process holds it, and it runs";
    EXPECT_FALSE(queue.take({}, QueuePlace::slurm));
}

TEST(RunQueue, AJobThatTheQueueNoLongerHasChangesNothing) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    const std::int64_t id = add_submitted(queue);
    QueuedRun old = queue.list().at(0);
    QueuedRun done = old;
    done.state = QueueState::done;
    queue.update_job(done);
    old.state = QueueState::failed;
    queue.update_job(old);
    EXPECT_EQ(queue.list().at(0).state, QueueState::done) << "its end is known";
    queue.reset(id);
    queue.update_job(old);
    EXPECT_EQ(queue.list().at(0).state, QueueState::waiting);
    EXPECT_TRUE(queue.list().at(0).job.id.empty());
}

TEST(RunQueue, ACancelledJobStaysSoWhenOlderNewsOfItArrive) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    add_submitted(queue);
    const QueuedRun old = queue.list().at(0);
    QueuedRun cancelled = old;
    cancelled.job.note = JobNote::cancelled;
    cancelled.job.words.clear();
    queue.update_job(cancelled);
    for (const JobNote note : {JobNote::none, JobNote::waits, JobNote::silent}) {
        QueuedRun news = old;
        news.state = QueueState::running;
        news.job.note = note;
        EXPECT_EQ(queue.update_job(news).job.note, JobNote::cancelled);
        EXPECT_EQ(queue.list().at(0).state, QueueState::running);
        EXPECT_EQ(queue.list().at(0).job, cancelled.job);
    }
    QueuedRun ended = old;
    ended.state = QueueState::failed;
    ended.job.note = JobNote::no_run;
    EXPECT_EQ(queue.update_job(ended).state, QueueState::stopped);
    EXPECT_EQ(queue.list().at(0).state, QueueState::stopped);
    EXPECT_EQ(queue.list().at(0).job, cancelled.job);
}

TEST(RunQueue, ARunThatEndedBeforeItsJobWasCancelledIsDone) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    add_submitted(queue);
    QueuedRun run = queue.list().at(0);
    run.job.note = JobNote::cancelled;
    queue.update_job(run);
    run.state = QueueState::done;
    run.job.note = JobNote::none;
    EXPECT_EQ(queue.update_job(run).state, QueueState::done);
    EXPECT_EQ(queue.list().at(0).job.note, JobNote::none);
}

TEST(RunQueue, ARunWhoseJobWasStoppedKeepsItsRun) {
    const TempFolder folder;
    RunQueue queue(folder.path());
    const std::int64_t id = add_submitted(queue);
    QueuedRun run = queue.list().at(0);
    run.state = QueueState::stopped;
    run.run = "7";
    queue.update_job(run);
    queue.reset(id);
    EXPECT_EQ(queue.list().at(0).state, QueueState::waiting);
    EXPECT_EQ(queue.list().at(0).run, "7");
    EXPECT_EQ(queue.list().at(0).job, (ClusterJob{.folder = "/jobs/1"}));
}

TEST(RunQueue, AFileOfAnEarlierVersionIsRead) {
    const TempFolder folder;
    const QueueEntry wanted = entry("a");
    {
        Database database(folder / "queue.db");
        database.run(
            "CREATE TABLE queue (id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL, "
            "batch TEXT NOT NULL, label TEXT NOT NULL, config TEXT NOT NULL, state TEXT NOT NULL, "
            "run TEXT NOT NULL)");
        Statement(database,
                  "INSERT INTO queue (place, batch, label, config, state, run) VALUES (1, '', 'a', "
                  "?, 'done', '5')")
            .bind(to_json(wanted.config))
            .run();
    }
    RunQueue queue(folder.path()), other(folder.path());
    const QueuedRun run = queue.list().at(0);
    EXPECT_EQ(run.entry.config, wanted.config);
    EXPECT_EQ(run.entry.where, QueuePlace::here);
    EXPECT_EQ(run.state, QueueState::done);
    EXPECT_EQ(run.run, "5");
    EXPECT_EQ(run.job, ClusterJob{});
}

TEST(RunQueue, AFileThatIsNoQueueIsRefusedWithASentence) {
    const TempFolder folder;
    folder.write("queue.db", std::string(5000, 'x'));
    try {
        RunQueue queue(folder.path());
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io);
        EXPECT_THAT(error.what(), testing::HasSubstr("queue.db: the queue is damaged"));
    }
}

}  // namespace
}  // namespace engine
