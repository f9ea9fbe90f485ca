#include "engine/runs/sweep_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "done_of.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;

/// Sweeps over two learning rates whose runs a test ends as it likes.
struct SweepRunTest : testing::Test {
    static SweepPlan two_rates() {
        SweepRequest request;
        request.grid = {"optimizer.lr=0.1,0.2"};
        return plan_sweep(request);
    }
    SweepRun sweep(const fs::path& out = {}) const { return {two_rates(), store, out}; }

    /// Trains the turn's run to this end.
    RunOutcome train(SweepRun::Turn& turn, DoneReason reason) const {
        const RunConfig& config = turn.taken.queued().entry.config;
        const auto made = store->create(config, turn.folder);
        RunStarted started{};
        started.run = made.run;
        started.config = config;
        store->append(started);
        turn.taken.set_run(made.run);
        RunOutcome outcome;
        outcome.id = made.run;
        outcome.ended = true;
        outcome.run.done = done_of(made.run);
        outcome.run.done.reason = reason;
        store->append(outcome.run.done);
        return outcome;
    }

    test_support::TempFolder root;
    std::shared_ptr<RunStore> store = std::make_shared<RunStore>(root.path());
};

TEST_F(SweepRunTest, TrainsEachRunOnceInTheOrderOfThePoints) {
    SweepRun first = sweep();
    EXPECT_EQ(first.enter(false), 0);
    std::vector<std::string> labels;
    while (auto turn = first.next()) {
        labels.push_back(turn->label);
        EXPECT_FALSE(turn->earlier);
        EXPECT_EQ(first.finish(*turn, train(*turn, DoneReason::epochs)), QueueState::done);
    }
    EXPECT_THAT(labels, ElementsAre("1/2 optimizer.lr=0.1", "2/2 optimizer.lr=0.2"));
    EXPECT_EQ(first.notice().state, "done");
    EXPECT_EQ(first.notice().reason, "2 done, 0 failed, 0 waiting");
    EXPECT_EQ(first.notice().runs.size(), 2u);

    SweepRun again = sweep();
    EXPECT_EQ(again.enter(false), 2);
    EXPECT_FALSE(again.next());
    EXPECT_EQ(again.enter(true), 0);
    EXPECT_TRUE(again.next());
}

TEST_F(SweepRunTest, ARunThatWasStoppedGoesOnAtTheNextTurn) {
    std::string stopped;
    {
        SweepRun first = sweep();
        first.enter(false);
        auto turn = first.next();
        const RunOutcome outcome = train(*turn, DoneReason::stopped);
        stopped = outcome.id;
        EXPECT_EQ(first.finish(*turn, outcome), QueueState::waiting);
        EXPECT_EQ(first.notice().state, "stopped");
    }
    SweepRun second = sweep();
    EXPECT_EQ(second.enter(false), 0);
    auto turn = second.next();
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->label, "1/2 optimizer.lr=0.1");
    ASSERT_TRUE(turn->earlier);
    EXPECT_EQ(turn->earlier->run, stopped);
}

/// Its process died between the end of the run and the note in the queue.
TEST_F(SweepRunTest, ARunThatHasEndedIsNotedAndNotTrainedAgain) {
    {
        SweepRun first = sweep();
        first.enter(false);
        auto turn = first.next();
        train(*turn, DoneReason::epochs);
    }
    SweepRun second = sweep();
    EXPECT_EQ(second.enter(false), 0);
    const auto turn = second.next();
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->label, "2/2 optimizer.lr=0.2");
    EXPECT_EQ(second.notice().reason, "1 done, 0 failed, 1 waiting");
}

TEST_F(SweepRunTest, OnlyASweepWithoutAResultFails) {
    SweepRun run = sweep();
    run.enter(false);
    auto turn = run.next();
    EXPECT_EQ(run.finish(*turn, train(*turn, DoneReason::diverged)), QueueState::failed);
    EXPECT_TRUE(run.has_result()) << "the other one waits";
    turn = run.next();
    EXPECT_EQ(run.finish(*turn, train(*turn, DoneReason::failed)), QueueState::failed);
    EXPECT_FALSE(run.has_result());
    EXPECT_EQ(run.notice().state, "failed");
}

TEST_F(SweepRunTest, RunsInAFolderGetFreeOnesAndAQueueOfTheirOwn) {
    const fs::path out = root / "out";
    fs::create_directories(out / "run-1");
    SweepRun in_history = sweep(), in_folder = sweep(out);
    in_history.enter(false);
    EXPECT_EQ(in_folder.enter(false), 0);
    auto turn = in_folder.next();
    ASSERT_TRUE(turn);
    EXPECT_THAT(turn->folder.string(), EndsWith("run-1-2"));
    EXPECT_TRUE(in_history.next()->folder.empty());
}

TEST(QueueStateOfAnOutcome, CountsResultsWithoutACheckpointButNoneOfAFailure) {
    RunOutcome outcome;
    EXPECT_EQ(queue_state(outcome), QueueState::waiting) << "it never began";
    outcome.ended = true;
    outcome.run.done = done_of("1");
    EXPECT_EQ(queue_state(outcome), QueueState::done);
    outcome.exit_code = 5;
    EXPECT_EQ(queue_state(outcome), QueueState::failed);
    outcome.run.done.unsaved = 20;
    EXPECT_EQ(queue_state(outcome), QueueState::done);
    outcome.run.done.reason = DoneReason::stopped;
    EXPECT_EQ(queue_state(outcome), QueueState::waiting);
}

}  // namespace
}  // namespace engine
