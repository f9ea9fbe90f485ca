#include "train/run/epoch_rules.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

const std::vector<Metric> no_metrics;
const std::vector<Metric> accuracy_metrics = classification_metrics();
const std::vector<Metric> rmse_and_r2 = {
    {.key = "rmse", .title = "RMSE", .higher_is_better = false}, {.key = "r2", .title = "R2"}};

PartFigures with_loss(double loss) { return {.loss = loss, .metrics = {}}; }
PartFigures with_metric(const std::string& key, double value) {
    return {.loss = 1, .metrics = {{key, value}}};
}

/// For each loss in a row: whether it is the best so far.
std::vector<bool> seen(BestMetric& best, const std::vector<double>& losses) {
    std::vector<bool> out;
    for (const double loss : losses) out.push_back(best.see({{}, with_loss(loss)}));
    return out;
}

TEST(BestMetric, GoesByTheLossWhereTheTaskHasNoMetric) {
    BestMetric best(no_metrics);
    EXPECT_EQ(seen(best, {2, 3, 1, 1, 0.5}), (std::vector<bool>{true, false, true, false, true}));
    EXPECT_EQ(best.state().value, 0.5);
}

TEST(BestMetric, TakesTheDirectionFromThePrimaryMetric) {
    BestMetric high(accuracy_metrics), low(rmse_and_r2);
    EXPECT_TRUE(high.see({{}, with_metric("accuracy", 0.5), 1, 10}));
    EXPECT_FALSE(high.see({{}, with_metric("accuracy", 0.4), 2, 20}));
    EXPECT_TRUE(high.see({{}, with_metric("accuracy", 0.6), 3, 30}));
    EXPECT_TRUE(low.see({{}, with_metric("rmse", 5), 1, 10}));
    EXPECT_FALSE(low.see({{}, with_metric("rmse", 6), 2, 20}));
    EXPECT_TRUE(low.see({{}, with_metric("rmse", 4), 3, 30}));
}

TEST(BestMetric, ReadsTheValidationPartWhereItWasEvaluatedAndElseTheTestPart) {
    BestMetric best(accuracy_metrics);
    EXPECT_EQ(best.figure({with_metric("accuracy", 0.7), with_metric("accuracy", 0.9)}), 0.7);
    EXPECT_EQ(best.figure({unknown_figures(accuracy_metrics), with_metric("accuracy", 0.9)}), 0.9);
    EXPECT_TRUE(std::isnan(
        best.figure({unknown_figures(accuracy_metrics), unknown_figures(accuracy_metrics)})));
}

TEST(BestMetric, ANotANumberIsNeverBetterNorInTheWay) {
    BestMetric best(no_metrics);
    EXPECT_EQ(seen(best, {nan, infinite, 2, nan, -infinite}),
              (std::vector<bool>{false, false, true, false, true}));
}

TEST(BestMetric, OfOutputsThatAreNaNIsNoneWhateverTheMetricSays) {
    BestMetric best(accuracy_metrics);
    const auto with = [](double loss, double accuracy) {
        return PartFigures{.loss = loss, .metrics = {{"accuracy", accuracy}}};
    };
    EXPECT_FALSE(best.see({{}, with(nan, 0.9375), 1, 1}));
    EXPECT_TRUE(best.see({{}, with(0.7, 0.5), 2, 2}));
    EXPECT_FALSE(best.see({with(nan, 1), with(0.1, 1), 3, 3})) << "the validation part counts";
    EXPECT_EQ(best.state().waited, 1);
}

TEST(BestMetric, KeepsWhereTheBestWasAndHowLongAgo) {
    BestMetric best(no_metrics);
    best.see({{}, with_loss(2), 1, 100});
    best.see({{}, with_loss(1), 2, 200});
    best.see({{}, with_loss(3), 3, 300});
    best.see({{}, with_loss(3), 4, 400});
    EXPECT_EQ(best.state(), (BestMetricState{1, 2, 200, 2}));
}

TEST(BestMetric, AGainWithinTheMarginDoesNotCount) {
    BestMetric absolute(no_metrics, {.relative = 0, .absolute = 0.25});
    EXPECT_EQ(seen(absolute, {2, 1.75, 1.5}), (std::vector<bool>{true, false, true}));
    BestMetric relative(no_metrics, {.relative = 0.5, .absolute = 0});
    EXPECT_EQ(seen(relative, {2, 1, 0.75}), (std::vector<bool>{true, false, true}));
}

TEST(BestMetric, GoesOnFromASavedState) {
    BestMetric first(no_metrics);
    seen(first, {3, 1, 2});
    BestMetric second(no_metrics);
    second.restore(first.state());
    EXPECT_EQ(seen(second, {1.5, 0.5}), (std::vector<bool>{false, true}));
    EXPECT_EQ(seen(first, {1.5, 0.5}), (std::vector<bool>{false, true}));
    EXPECT_EQ(first.state(), second.state());
}

}  // namespace
}  // namespace engine
