#include "engine/train/learning_rate_finder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"

namespace engine {
namespace {

RunConfig spirals(const std::vector<std::string>& more = {}) {
    std::vector<std::string> overrides = {"dataset.kind=spirals",     "model.kind=mlp",
                                          "precision.preset=fp32",    "optimizer.momentum=0",
                                          "optimizer.weight_decay=0", "batch_size=64"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    const ParsedConfig parsed = parse_run_config("{}", overrides);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

TEST(FindLearningRate, RaisesTheRateExponentiallyFromTheLowestToTheHighest) {
    const FoundRate found = find_learning_rate(
        spirals(), {.lowest = 1e-6, .highest = 1e-2, .steps = 41, .diverged = 4});
    ASSERT_EQ(found.points.size(), 41u);
    for (std::size_t i = 0; i < found.points.size(); ++i) {
        const double expected = 1e-6 * std::pow(10.0, static_cast<double>(i) / 10);
        // The ratio is rounded once, which its power repeats; then the result is rounded to f32
        // once.
        EXPECT_NEAR(found.points[i].lr, expected, expected * (0x1p-24 + 41 * 0x1p-52)) << i;
    }
}

TEST(FindLearningRate, EndsWhereTheLossExplodes) {
    const FoundRate found = find_learning_rate(
        spirals(), {.lowest = 1e-3, .highest = 1e6, .steps = 100, .diverged = 4});
    ASSERT_GT(found.points.size(), 10u);
    ASSERT_LT(found.points.size(), 100u);
    double best = found.points.front().smoothed;
    for (const RatePoint& point : found.points) best = std::min(best, point.smoothed);
    for (std::size_t i = 0; i + 1 < found.points.size(); ++i)
        EXPECT_LE(found.points[i].smoothed, 4 * best);
}

TEST(FindLearningRate, SuggestsRatesThatTrain) {
    // LeNet on glyphs learns at 0.05 with momentum, but not at 1e-3 within the test.
    const RunConfig glyphs =
        parse_run_config("{}", {"precision.preset=fp32", "dataset.train_limit=640", "batch_size=32",
                                "device=cpu"})
            .config;
    const FoundRate found = find_learning_rate(glyphs);
    ASSERT_TRUE(found.valley.has_value());
    ASSERT_TRUE(found.steepest.has_value());
    for (const double rate : {*found.valley, *found.steepest}) {
        EXPECT_GT(rate, 1e-3);
        EXPECT_LT(rate, 1);
    }
}

TEST(FindLearningRate, DoesNotDependOnTheRateAndScheduleOfTheSettings) {
    const auto losses = [](const RunConfig& config) {
        std::vector<double> out;
        for (const RatePoint& point :
             find_learning_rate(config, {.lowest = 1e-4, .highest = 1, .steps = 20, .diverged = 4})
                 .points)
            out.push_back(point.loss);
        return out;
    };
    const auto usual = losses(spirals());
    EXPECT_EQ(losses(spirals()), usual) << "nothing is kept from one test to the next";
    EXPECT_EQ(losses(spirals({"optimizer.lr=3", "schedule.kind=plateau"})), usual);
    EXPECT_NE(losses(spirals({"seed=2"})), usual);
}

TEST(FindLearningRate, LeavesSkippedStepsOutOfTheCurve) {
    const FoundRate found = find_learning_rate(
        spirals({"precision.preset=amp-fp16", "scaler.init_scale=1e30", "device=cpu"}),
        {.lowest = 1e-4, .highest = 1e-2, .steps = 30, .diverged = 4});
    // 1e30 is about 2^100: more than sixty halvings until the fp16 gradients are finite.
    EXPECT_LT(found.points.size(), 30u) << "the scale takes more than twice as many steps";
    for (std::size_t i = 1; i < found.points.size(); ++i)
        EXPECT_GT(found.points[i].lr, found.points[i - 1].lr);
}

TEST(FindLearningRate, EndsWhenAskedTo) {
    int asked = 0;
    const FoundRate found =
        find_learning_rate(spirals(), {}, [&](const RatePoint&) { return ++asked < 7; });
    EXPECT_EQ(found.points.size(), 7u);
    EXPECT_FALSE(found.valley.has_value());
}

TEST(FindLearningRate, RefusesADeviceThatTheMachineLacks) {
    RunConfig config = spirals();
    config.device = "cuda:7";
    EXPECT_THROW(find_learning_rate(config), Error);
}

}  // namespace
}  // namespace engine
