// Runs of the window's queue as jobs, with programs that stand in for Slurm's.
#include "commands/cluster_jobs.h"

#include <QSemaphore>
#include <QSignalSpy>
#include <QThreadPool>

#include "commands/queue_runner.h"
#include "engine/runs/cluster.h"
#include "support/slurm_stand_in.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::QueuePlace;
using engine::QueueState;

struct ClusterJobsTest : WindowFixture {
    ClusterJobsTest() {
        engine::write_cluster_settings({shared / "jobs", engine::default_job_script()});
        slurm.answer("sbatch", "41\n");
        slurm.answer("squeue", "41|PENDING|Priority\n");
        queue.setWhere(QueuePlace::slurm);
        ClusterJobs::followEvery = std::chrono::milliseconds(250);
    }
    /// Before the programs go.
    ~ClusterJobsTest() override {
        QThreadPool::globalInstance()->waitForDone();
        ClusterJobs::followEvery = usual;
    }

    void add(std::int64_t seed = 1) {
        const auto config = engine::parse_run_config("{}", {"seed=" + std::to_string(seed)}).config;
        queue.add({{config, "a run", ""}});
    }
    bool comesTo(const std::vector<QueueState>& wanted) {
        return QTest::qWaitFor(
            [&] {
                std::vector<QueueState> states;
                for (const auto& run : queue.runs()) states.push_back(run.state);
                return states == wanted;
            },
            300'000);
    }
    /// The job on its node trains the run.
    void trainThere(const engine::QueuedRun& run, engine::DoneReason reason) {
        const auto made =
            elsewhere.create(run.entry.config, run.job.folder / run.job.folder.filename());
        engine::RunStarted started{};
        started.run = made.run;
        started.config = run.entry.config;
        elsewhere.append(started);
        engine::RunDone done{};
        done.run = made.run;
        done.reason = reason;
        elsewhere.append(done);
    }

    const std::chrono::milliseconds usual = ClusterJobs::followEvery;
    test_support::SlurmStandIn slurm;
    test_support::TempFolder shared;
    engine::RunStore elsewhere{shared / "there"};
};

TEST_F(ClusterJobsTest, AreSubmittedByTheQueueAndEndIt) {
    add(1);
    EXPECT_EQ(queue.runs()[0].entry.where, QueuePlace::slurm);
    EXPECT_EQ(slurm.calls(), "") << "nothing is submitted before the queue starts";
    const QSignalSpy ended(&queue, &QueueRunner::ended);
    queue.start();
    ASSERT_TRUE(comesTo({QueueState::submitted}));
    ASSERT_TRUE(QTest::qWaitFor([&] { return queue.runs()[0].job.words == "Priority"; }, 300'000));
    EXPECT_TRUE(queue.isOn()) << "until the job has ended";
    trainThere(queue.runs()[0], engine::DoneReason::epochs);
    ASSERT_TRUE(comesTo({QueueState::done}));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !queue.isOn(); }, 300'000));
    ASSERT_EQ(ended.size(), 1);
    EXPECT_EQ(ended[0][1].toInt(), 1);
    EXPECT_TRUE(feed.store()->find(queue.runs()[0].run)) << "it is in the history";
}

TEST_F(ClusterJobsTest, AreFoundAgainByTheNextWindow) {
    add();
    queue.start();
    ASSERT_TRUE(comesTo({QueueState::submitted}));
    trainThere(queue.runs()[0], engine::DoneReason::epochs);
    QueueRunner next(&feed, &commands);
    ASSERT_TRUE(comesTo({QueueState::done}));
    EXPECT_FALSE(next.isOn());
}

TEST_F(ClusterJobsTest, AreCancelled) {
    add();
    queue.start();
    ASSERT_TRUE(comesTo({QueueState::submitted}));
    queue.cancelJobs({queue.runs()[0].id});
    // Only then: a job that is known to have ended is not cancelled any more.
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return slurm.calls().find("scancel [41]\n") != std::string::npos; }, 300'000));
    slurm.answer("squeue", "41|CANCELLED|None\n");
    EXPECT_TRUE(comesTo({QueueState::stopped}));
}

TEST_F(ClusterJobsTest, AStoppedRunGoesOnInANewJobWhileTheQueueIsOn) {
    add(1);
    queue.start();
    ASSERT_TRUE(comesTo({QueueState::submitted}));
    slurm.answer("sbatch", "42\n");
    slurm.answer("squeue", "41|PENDING|Priority\n42|PENDING|Priority\n");
    add(2);
    ASSERT_TRUE(comesTo({QueueState::submitted, QueueState::submitted}));
    slurm.answer("squeue", "41|PENDING|Priority\n42|CANCELLED|None\n");
    ASSERT_TRUE(comesTo({QueueState::submitted, QueueState::stopped}));
    slurm.answer("sbatch", "43\n");
    slurm.answer("squeue", "41|PENDING|Priority\n43|PENDING|Priority\n");
    queue.runAgain(queue.runs()[1].id);
    ASSERT_TRUE(comesTo({QueueState::submitted, QueueState::submitted}));
    EXPECT_EQ(queue.runs()[1].job.id, "43");
}

TEST_F(ClusterJobsTest, APausedQueueSubmitsNothingMore) {
    auto* pool = QThreadPool::globalInstance();
    const int threads = pool->maxThreadCount();
    pool->setMaxThreadCount(1);
    QSemaphore paused;
    pool->start([&] { paused.acquire(); });
    add();
    queue.start();
    queue.pause();
    paused.release();
    pool->waitForDone();
    pool->setMaxThreadCount(threads);
    EXPECT_EQ(slurm.calls(), "");
    EXPECT_EQ(queue.runs()[0].state, QueueState::waiting);
}

TEST_F(ClusterJobsTest, AWindowThatIsClosedDoesNotWaitForSbatch) {
    slurm.hang("sbatch");
    add();
    auto jobs = std::make_unique<ClusterJobs>(&feed, &commands);
    jobs->submit();
    ASSERT_TRUE(QTest::qWaitFor(
        [this] { return slurm.calls().find("sbatch") != std::string::npos; }, 300'000));
    jobs.reset();
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(30'000)) << "sbatch has a minute";
    EXPECT_EQ(queue.runs().front().state, QueueState::failed);
    EXPECT_EQ(queue.runs().front().job.note, engine::JobNote::abandoned);
}

TEST_F(ClusterJobsTest, AMachineWithoutSlurmIsReportedAndTheQueueEnds) {
    slurm.remove("sbatch");
    QString said;
    QObject::connect(&commands, &Commands::failed, &commands,
                     [&](const Problem& problem) { said = problem.sentence; });
    add();
    queue.start();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !said.isEmpty() && !queue.isOn(); }, 300'000));
    EXPECT_TRUE(said.contains(u"sbatch"_s)) << said.toStdString();
    EXPECT_EQ(queue.runs()[0].state, QueueState::waiting);
}

TEST_F(ClusterJobsTest, ARunThatWaitsIsMovedToThisMachine) {
    add();
    queue.moveTo(QueuePlace::here, {queue.runs()[0].id});
    EXPECT_EQ(queue.runs()[0].entry.where, QueuePlace::here);
}

}  // namespace
}  // namespace ui
