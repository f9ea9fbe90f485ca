#include "train/run/run_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/device_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;

/// Notes its calls and makes requests.
class Noted final : public RunListener {
public:
    RunRequest before_step(std::int64_t step, std::int64_t) override {
        note("before_step", step);
        return {.save = step == save_after};
    }
    void on_step(const CompletedStep& step) override { note("on_step", step.row.step); }
    void after_step() override { calls.emplace_back("after_step"); }
    RunRequest on_evaluation(const Evaluated& evaluated) override {
        note("on_evaluation", evaluated.step);
        return {};
    }
    RunRequest on_epoch(const Evaluated& evaluated) override {
        note("on_epoch", evaluated.epoch);
        return at_epoch;
    }
    void on_checkpoint(const SavedRun& saved) override { note("on_checkpoint", saved.step()); }
    RunRequest on_end(std::int64_t step, std::int64_t) override {
        note("on_end", step);
        return {};
    }
    void complete(RunDone&) override { calls.emplace_back("complete"); }

    std::vector<std::string> calls;
    std::int64_t save_after = -1;
    RunRequest at_epoch{};

private:
    void note(const std::string& call, std::int64_t number) {
        calls.push_back(call + ' ' + std::to_string(number));
    }
};

/// Epochs of two steps on the CPU, each evaluated.
class RunLoopTest : public testing::Test {
protected:
    RunLoop& trained(std::int64_t epochs) {
        RunConfig config = test::small_run("mlp", "fp32");
        config.dataset.train_limit = 32;
        config.epochs = epochs;
        config.schedule.kind = "constant";
        config.checkpoint.best = false;
        config.device = "cpu";
        loop_.emplace(config, &store_, SessionOptions{}, [](const Event&) {});
        loop_->prepare({});
        loop_->listen(noted_);
        while (!loop_->finished()) {
            loop_->train_step();
            if (!loop_->at_epoch_end()) continue;
            loop_->begin_evaluation();
            while (loop_->evaluate_some()) {
            }
        }
        return *loop_;
    }

    Noted noted_;

private:
    test_support::TempFolder folder_;
    RunStore store_{folder_.path()};
    std::optional<RunLoop> loop_;
};

TEST_F(RunLoopTest, CallsListenersInTheOrderOfStepsAndEpochs) {
    RunLoop& loop = trained(1);
    const RunDone done = loop.end(loop.reason());
    EXPECT_EQ(done.reason, DoneReason::epochs);
    EXPECT_EQ(done.steps, 2);
    EXPECT_THAT(noted_.calls,
                ElementsAre("before_step 0", "on_step 1", "after_step", "before_step 1",
                            "on_step 2", "after_step", "on_evaluation 2", "on_epoch 1", "on_end 2",
                            "on_checkpoint 2", "complete"))
        << "the run's own listener asks for a checkpoint at its end";
}

TEST_F(RunLoopTest, SavesBeforeTheStepForAListenerThatAsks) {
    noted_.save_after = 1;
    trained(1);
    noted_.calls.resize(5);
    EXPECT_THAT(noted_.calls, ElementsAre("before_step 0", "on_step 1", "after_step",
                                          "before_step 1", "on_checkpoint 1"));
}

TEST_F(RunLoopTest, EndsForAListenerThatAsks) {
    noted_.at_epoch.stop = true;
    RunLoop& loop = trained(3);
    EXPECT_EQ(loop.trainer().steps(), 2);
    EXPECT_EQ(loop.reason(), DoneReason::early_stopping);
}

TEST_F(RunLoopTest, TakesTheRateThatAListenerAsksFor) {
    noted_.at_epoch.rate = 0.5;
    const StepRecordReader record = trained(2).record();
    EXPECT_EQ(record.row(1).lr, record.row(0).lr);
    EXPECT_EQ(record.row(2).lr, record.row(1).lr / 2);
}

}  // namespace
}  // namespace engine
