#include "train/bench/rate_suggestion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

/// Points at the rates 10^-7, 10^-6.9, ... with these losses.
template <typename Loss>
std::vector<RatePoint> curve(int count, Loss&& loss) {
    std::vector<RatePoint> points;
    for (int i = 0; i < count; ++i) {
        const double value = loss(i);
        points.push_back({std::pow(10.0, -7 + 0.1 * i), value, value});
    }
    return points;
}

TEST(RateSuggestion, SteepestIsWhereTheLossFallsFastestByTheLogarithmOfTheRate) {
    // The steepest point is near the middle, 30.4: over six points that means points 27 to 33.
    const auto points = curve(60, [](int i) { return 1 / (1 + std::exp((i - 30.4) / 3.0)); });
    EXPECT_DOUBLE_EQ(steepest_rate(points).value(), points[30].lr);
}

TEST(RateSuggestion, ValleyIsHalfwayDownTheLongestDescent) {
    // Level, then falling from 20 to 40, then rising.
    const auto points = curve(60, [](int i) {
        return i < 20 ? 2.0 : i <= 40 ? 2 - 0.05 * (i - 20) : i - 39.0;
    });
    // The descent has one of the level points and 20 falling ones: about 20 to 40.
    EXPECT_DOUBLE_EQ(valley_rate(points).value(), points[30].lr);
}

TEST(RateSuggestion, ABumpDoesNotEndTheDescent) {
    const auto points = curve(41, [](int i) { return i == 20 ? 100.0 : 40.0 - i; });
    // The descent has 40 points, without the bump. Its start is counted back from its end.
    EXPECT_DOUBLE_EQ(valley_rate(points).value(), points[20].lr);
}

TEST(RateSuggestion, ThereIsNoneWhereTheLossNeverFalls) {
    const auto rising = curve(30, [](int i) { return i; });
    EXPECT_FALSE(steepest_rate(rising).has_value());
    EXPECT_FALSE(valley_rate(rising).has_value());
    EXPECT_FALSE(steepest_rate({}).has_value());
    EXPECT_FALSE(valley_rate({}).has_value());
}

TEST(RateSuggestion, TheFirstTenthAndTheLastFivePointsAreNotJudged) {
    const auto points = curve(60, [](int i) { return i; });
    const auto judged = usable_points(points, 100);
    EXPECT_EQ(judged.size(), 45u);
    EXPECT_EQ(judged.front().smoothed, 10);
    EXPECT_EQ(judged.back().smoothed, 54);
    EXPECT_TRUE(usable_points(points, 600).empty());
    EXPECT_TRUE(usable_points({}, 100).empty());
}

TEST(SmoothedLoss, IsTheMeanCorrectedForItsStart) {
    SmoothedLoss smoothed;
    EXPECT_DOUBLE_EQ(smoothed.add(3), 3);
    // Weights 0.98 and 1, out of 1.98.
    EXPECT_DOUBLE_EQ(smoothed.add(1), (0.98 * 3 + 1) / 1.98);
    for (int i = 0; i < 3; ++i) smoothed.add(1);
    EXPECT_GT(smoothed.add(1), 1);
}

}  // namespace
}  // namespace engine
