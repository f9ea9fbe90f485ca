#include "instruments/replay/run_replay.h"

#include "engine/base/error.h"
#include "resume_support.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::Ended;
using test::small_run;
using test::small_text_run;
using testing::HasSubstr;

class RunReplayTest : public test::ResumedRuns {
protected:
    /// Expects that each of these steps, computed from its capsule, equals the run's own.
    static void expect_replays(const Ended& run, const std::vector<std::int64_t>& steps) {
        for (const std::int64_t step : steps) {
            const StepCapsule capsule = capsule_before(run.folder, step);
            EXPECT_EQ(capsule.step(), step);
            const StepRecord found = CapsuleStep(capsule).run().row;
            const StepRecord own = run.record.row(step - 1);
            EXPECT_EQ(found.loss, own.loss) << step;
            EXPECT_EQ(found.loss_scale, own.loss_scale) << step;
            EXPECT_EQ(found.found_inf, own.found_inf) << step;
            EXPECT_EQ(found.lr, own.lr) << step;
            EXPECT_EQ(found.updates, own.updates) << step;
            if (own.found_inf == 0) {
                EXPECT_EQ(found.grad_norm, own.grad_norm) << step;
            }
        }
    }
};

TEST_F(RunReplayTest, FromTheStartAndFromCheckpoints) {
    RunConfig config = small_run("lenet", "amp-fp16");
    config.dataset.augment = true;
    config.dataset.train_limit = 16 * 6;  // epochs of 6 steps
    config.dataset.test_limit = 32;
    config.scaler.init_scale = 1 << 24;
    config.epochs = 3;
    config.max_steps = 14;
    config.checkpoint.every_steps = 5;
    const Ended run = train(config);
    ASSERT_EQ(run.record.size(), 14);
    ASSERT_GT(run.record.row(13).step, run.record.row(13).updates) << "some steps were skipped";
    expect_replays(run, {1, 2, 6, 7, 11, 13, 14});
}

TEST_F(RunReplayTest, OfATextWithCarriedStateAndDropout) {
    RunConfig config = small_text_run("amp-bf16");
    config.model.options["dropout"] = 0.3;
    config.accumulate = 2;
    config.max_steps = 12;
    config.epochs = 10;
    config.checkpoint.every_steps = 4;
    expect_replays(train(config), {1, 3, 5, 9, 12});
}

/// The rate falls at the ends of epochs, because of evaluations that the replay repeats.
TEST_F(RunReplayTest, OfARunWhosePlateauLowersTheRate) {
    RunConfig config = small_run("mlp", "fp32");
    config.dataset.train_limit = 64;  // epochs of 4 steps
    config.schedule.kind = "plateau";
    config.schedule.options["patience"] = std::int64_t{0};
    config.optimizer.options["lr"] = 1e-12;  // no evaluation is better than the first
    config.epochs = 4;
    config.checkpoint.at_end = false;
    config.checkpoint.best = false;
    const RunConfig whole = completed(config);
    const Ended run = train(whole);
    expect_replays(run, {1, 5, 9, 16});
}

TEST_F(RunReplayTest, TheStepAfterTheLastIsTheOneThatTheRunWouldMakeNext) {
    RunConfig config = small_run("mlp", "amp-fp16");
    config.max_steps = 9;
    const Ended whole = train(config);
    const Ended stopped = train_to(config, 4);
    EXPECT_EQ(CapsuleStep(capsule_before(stopped.folder, 5)).run().row.loss,
              whole.record.row(4).loss);
}

TEST_F(RunReplayTest, TellsHowFarItIs) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 6;
    const Ended run = train(config);
    RunReplay replay(run.folder, 4);
    EXPECT_EQ(replay.remaining(), 3);
    EXPECT_TRUE(replay.advance());
    EXPECT_EQ(replay.remaining(), 2);
    EXPECT_TRUE(replay.advance());
    EXPECT_TRUE(replay.advance());
    EXPECT_FALSE(replay.advance());
    EXPECT_EQ(replay.capsule().step(), 4);
}

std::string error_text(const std::filesystem::path& folder, std::int64_t step) {
    try {
        RunReplay(folder, step);
    } catch (const Error& error) {
        return error.message().str();
    }
    return "";
}

TEST_F(RunReplayTest, RefusesStepsThatTheRunDoesNotHave) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 6;
    const Ended run = train(config);
    EXPECT_THAT(error_text(run.folder, 0), HasSubstr("has 6 steps"));
    EXPECT_THAT(error_text(run.folder, 8), HasSubstr("has no step 8"));
    EXPECT_EQ(error_text(run.folder, 7), "");
}

/// Steps before the start of a resumed run belong to its parent and have the parent's settings.
TEST_F(RunReplayTest, RefusesStepsOfTheParent) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 10;
    const Ended parent = train_to(config, 4);
    const Ended child = resume(parent, "last", {"optimizer.lr=0.01"});
    EXPECT_THAT(error_text(child.folder, 3), HasSubstr("continued run " + parent.run));
    expect_replays(child, {5, 8});
}

TEST_F(RunReplayTest, LeavesTheFolderAsItIs) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 6;
    const Ended run = train(config);
    const auto listing = [&] {
        std::map<std::string, std::filesystem::file_time_type> out;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(run.folder))
            out[entry.path().string()] = entry.last_write_time();
        return out;
    };
    const auto before = listing();
    (void)capsule_before(run.folder, 6);
    EXPECT_EQ(listing(), before);
    EXPECT_EQ(store_->list().size(), 1U);
}

}  // namespace
}  // namespace engine
