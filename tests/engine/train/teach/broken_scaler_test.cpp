// Errors that a step makes on purpose: clipping before unscaling, a scale that changes within a
// step, a resumed run without its scaler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/run/saved_run.h"
#include "trained_steps.h"

namespace engine {
namespace {

using test::changed;
using test::TrainedSteps;

constexpr double scale = 1024;

RunConfig plain_sgd(const std::vector<std::string>& more) {
    std::vector<std::string> changes = {
        "optimizer.momentum=0",    "optimizer.weight_decay=0",
        "optimizer.lr=0.5",        "schedule.kind=constant",
        "precision.scaler=static", "scaler.init_scale=" + std::to_string(scale)};
    changes.insert(changes.end(), more.begin(), more.end());
    return changed(test::small_run("mlp", "fp32"), changes);
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> out;
    for (std::size_t i = 0; i < a.size(); ++i) out.push_back(a[i] - b[i]);
    return out;
}

/// The change of the weights in one step.
std::vector<double> first_update(const RunConfig& config) {
    TrainedSteps run(config);
    const auto before = run.weights();
    run.step();
    return difference(run.weights(), before);
}

double norm_of(const std::vector<double>& values) {
    double squares = 0;
    for (const double v : values) squares += v * v;
    return std::sqrt(squares);
}

TEST(TeachClip, ByNormTheUpdateIsThatOfScaledGradientsOfThatNorm) {
    constexpr double bound = 0.25;
    const auto unclipped = first_update(plain_sgd({}));
    const auto wrong = first_update(
        plain_sgd({"clip.kind=norm", "clip.value=0.25", "teach.clip_before_unscale=true"}));
    // Scaled gradients of norm S n are clipped to norm 0.25 and then divided by S.
    const double scaled_norm = norm_of(unclipped) / 0.5 * scale;
    ASSERT_GT(scaled_norm, bound);
    const double factor = bound / (scaled_norm + 1e-6);
    for (std::size_t i = 0; i < wrong.size(); ++i)
        ASSERT_NEAR(wrong[i], unclipped[i] * factor, 1e-6 * std::abs(unclipped[i]) + 1e-7) << i;
    EXPECT_NEAR(norm_of(wrong), 0.5 * bound / scale, 1e-5) << "the bound is 1024 times too tight";
    const auto right = first_update(plain_sgd({"clip.kind=norm", "clip.value=0.25"}));
    EXPECT_GT(norm_of(right), 100 * norm_of(wrong));
}

TEST(TeachClip, ByValueTheElementsOfTheScaledGradientsAreBounded) {
    const auto wrong = first_update(
        plain_sgd({"clip.kind=value", "clip.value=0.5", "teach.clip_before_unscale=true"}));
    // f32 rounds weights up to 1 to multiples of 2^-24.
    for (const double update : wrong) EXPECT_LE(std::abs(update), 0.5 * 0.5 / scale + 0x1p-23);
    EXPECT_GT(norm_of(wrong), 0);
}

TEST(TeachClip, WithoutAScaleThereIsNothingWrong) {
    const RunConfig unscaled =
        plain_sgd({"precision.scaler=off", "clip.kind=norm", "clip.value=0.25"});
    EXPECT_EQ(first_update(unscaled),
              first_update(changed(unscaled, {"teach.clip_before_unscale=true"})));
}

TEST(TeachUpdate, TheScaleMovesOnceForEachMicroBatch) {
    const auto run = [](bool wrong) {
        RunConfig config =
            changed(test::small_run("mlp", "amp-fp16"),
                    {"accumulate=2", "scaler.init_scale=16", "scaler.growth_interval=2",
                     std::string("teach.update_each_micro_batch=") + (wrong ? "true" : "false")});
        return TrainedSteps(config).steps(4);
    };
    const auto right = run(false), wrong = run(true);
    // There are two updates per step, so each step fills the interval of 2, instead of every second
    // step.
    const std::vector<double> scales = {16, 32, 64, 128}, intact = {16, 16, 32, 32};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(static_cast<double>(wrong[i].loss_scale), scales[i]) << i;
        EXPECT_EQ(static_cast<double>(right[i].loss_scale), intact[i]) << i;
        EXPECT_EQ(wrong[i].growth_tracker, 0);
    }
}

TEST(TeachUpdate, GradientsOfTwoScalesAreDividedByTheLast) {
    // The scale grows by 4 after each micro-batch, so the first gradient counts a quarter.
    const auto update = [](const std::vector<std::string>& more) {
        std::vector<std::string> changes = {"precision.scaler=dynamic", "scaler.init_scale=16",
                                            "scaler.growth_factor=4", "scaler.growth_interval=1",
                                            "accumulate=2"};
        changes.insert(changes.end(), more.begin(), more.end());
        return first_update(plain_sgd(changes));
    };
    const auto whole = update({}), wrong = update({"teach.update_each_micro_batch=true"});
    // whole = (g1 + g2) / 2 and wrong = (g1 / 4 + g2) / 2, where g1 is the gradient of a step with
    // one micro-batch.
    const auto first = first_update(plain_sgd({}));
    double error = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
        error = std::max(error, std::abs(wrong[i] - (whole[i] - first[i] * 3 / 8)));
    EXPECT_LT(error, 1e-6);
    EXPECT_GT(norm_of(difference(whole, wrong)), 1e-3);
}

TEST(TeachResume, TheScaleBeginsAnewAndNothingElse) {
    const RunConfig config = changed(test::small_run("mlp", "amp-fp16"),
                                     {"scaler.init_scale=1024", "scaler.growth_interval=2"});
    TrainedSteps before(config);
    before.steps(5);
    const TrainingState state = before.trainer().saved_state();
    TrainedSteps whole(config), broken(changed(config, {"teach.resume_without_scaler=true"}));
    whole.trainer().load_state(state);
    broken.trainer().load_state(state);
    EXPECT_EQ(whole.weights(), broken.weights());
    EXPECT_EQ(whole.step().loss_scale, 4096) << "after two growths";
    EXPECT_EQ(broken.step().loss_scale, 1024);
}

TEST(TeachResume, TheListOfWhatWasRestoredSaysSo) {
    const RunConfig config = test::small_run("mlp", "amp-fp16");
    SavedRun saved;
    saved.config = config;
    saved.training.counts = {{"steps", 5}, {"updates", 5}, {"samples", 80}};
    saved.training.scaler = {{"scale", 4096}, {"growth_tracker", 1}};
    saved.progress = {{"epoch", 0}, {"batch", 5}};
    std::string told;
    for (const Message& part :
         restored_parts(saved, changed(config, {"teach.resume_without_scaler=true"})))
        told += part.str() + '\n';
    EXPECT_THAT(told, testing::HasSubstr("on purpose"));
    EXPECT_THAT(told, testing::HasSubstr("2¹² was saved"));
    EXPECT_THAT(told, testing::HasSubstr("Data: continues with batch 6 of epoch 1."));
}

}  // namespace
}  // namespace engine
