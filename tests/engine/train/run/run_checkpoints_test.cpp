#include "train/run/run_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/runs/checkpoint.h"
#include "temp_folder.h"

namespace engine {
namespace {

SavedRun saved_at(std::int64_t step) {
    SavedRun saved;
    saved.run = "7";
    saved.training.weights["w"] = Tensor::zeros({8}, DType::f32, Device{});
    saved.training.counts = {{"steps", static_cast<double>(step)}, {"updates", 0}, {"samples", 0}};
    saved.progress = {{"epoch", 0}, {"batch", 0}};
    return saved;
}

/// Settings of a run that saves every 5 steps.
CheckpointConfig every_five() {
    CheckpointConfig config;
    config.every_steps = 5;
    config.at_end = false;
    return config;
}

TEST(RunCheckpointsTest, TheNewestThatCouldNotBeWrittenIsKnown) {
    const test_support::TempFolder folder;
    const auto in = folder / "run";
    RunCheckpoints checkpoints(every_five(), in, "7", 0, 0);  // which is not there yet
    checkpoints.save(saved_at(5));
    checkpoints.finish();
    (void)checkpoints.take_events();
    EXPECT_EQ(checkpoints.unsaved(), 5);
    std::filesystem::create_directory(in);
    checkpoints.save(saved_at(10));
    checkpoints.finish();
    (void)checkpoints.take_events();
    EXPECT_EQ(checkpoints.unsaved(), 0) << "a later one is on the disk";
    std::filesystem::remove_all(in);
    checkpoints.save(saved_at(15));
    checkpoints.finish();
    (void)checkpoints.take_events();
    EXPECT_EQ(checkpoints.unsaved(), 15);
}

TEST(RunCheckpointsTest, OneThatWasSavedBeforeItsEvaluationIsWrittenAgainAtTheEnd) {
    const test_support::TempFolder folder;
    RunCheckpoints checkpoints(every_five(), folder.path(), "7", 0, 0);
    checkpoints.save(saved_at(7));
    EXPECT_FALSE(checkpoints.wants_end(7, 0));
    checkpoints.evaluated(6);
    EXPECT_FALSE(checkpoints.wants_end(7, 0));
    checkpoints.evaluated(7);
    EXPECT_TRUE(checkpoints.wants_end(7, 0));
    checkpoints.save(saved_at(7));
    EXPECT_FALSE(checkpoints.wants_end(7, 0));
    checkpoints.finish();
}

}  // namespace
}  // namespace engine
