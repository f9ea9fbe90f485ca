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

/// Writes what was saved; RunDone::unsaved then.
std::int64_t unsaved(RunCheckpoints& checkpoints) {
    RunDone done{};
    checkpoints.complete(done);
    return done.unsaved;
}

TEST(RunCheckpointsTest, TheNewestThatCouldNotBeWrittenIsKnown) {
    const test_support::TempFolder folder;
    const auto in = folder / "run";
    const RunStore::NewRun place{.run = "7", .folder = in};  // which is not there yet
    std::vector<Event> events;
    RunCheckpoints checkpoints(every_five(), place, {},
                               [&](Event event) { events.push_back(std::move(event)); });
    checkpoints.on_checkpoint(saved_at(5));
    EXPECT_EQ(unsaved(checkpoints), 5);
    std::filesystem::create_directory(in);
    checkpoints.on_checkpoint(saved_at(10));
    EXPECT_EQ(unsaved(checkpoints), 0) << "a later one is on the disk";
    std::filesystem::remove_all(in);
    checkpoints.on_checkpoint(saved_at(15));
    EXPECT_EQ(unsaved(checkpoints), 15);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(std::get<RunWarning>(events[0]).step, 5);
    EXPECT_EQ(std::get<CheckpointSaved>(events[1]).step, 10);
    EXPECT_EQ(std::get<RunWarning>(events[2]).step, 15);
}

TEST(RunCheckpointsTest, OneThatWasSavedBeforeItsEvaluationIsWrittenAgainAtTheEnd) {
    const test_support::TempFolder folder;
    const RunStore::NewRun place{.run = "7", .folder = folder.path()};
    RunCheckpoints checkpoints(every_five(), place, {}, [](const Event&) {});
    const auto at_end = [&] { return checkpoints.on_end(7, 0).save; };
    EXPECT_TRUE(checkpoints.before_step(5, 0).save);
    checkpoints.on_checkpoint(saved_at(7));
    EXPECT_FALSE(checkpoints.before_step(7, 0).save);
    EXPECT_FALSE(at_end());
    checkpoints.on_evaluation({.epoch = 0, .step = 6});
    EXPECT_FALSE(at_end());
    checkpoints.on_evaluation({.epoch = 0, .step = 7});
    EXPECT_TRUE(at_end());
    checkpoints.on_checkpoint(saved_at(7));
    EXPECT_FALSE(at_end());
}

TEST(RunCheckpointsTest, TheBestEvaluationAsksForACheckpointIfTheSettingsDo) {
    const RunStore::NewRun place;
    CheckpointConfig config = every_five();
    for (const bool wanted : {false, true}) {
        config.best = wanted;
        RunCheckpoints checkpoints(config, place, {}, [](const Event&) {});
        const auto asks = [&](double loss) {
            return checkpoints.on_evaluation({{}, {.loss = loss, .metrics = {}}, 1, 1}).best;
        };
        EXPECT_EQ(asks(2), wanted);
        EXPECT_FALSE(asks(3));
        EXPECT_EQ(asks(1), wanted);
    }
}

}  // namespace
}  // namespace engine
