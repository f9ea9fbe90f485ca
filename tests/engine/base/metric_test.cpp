#include "engine/base/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/record/step_record.h"

namespace engine {
namespace {

std::vector<Metric> metrics(const std::vector<std::string>& keys) {
    std::vector<Metric> result;
    for (const std::string& key : keys) result.push_back({.key = key, .title = key});
    return result;
}

TEST(PartFigures, AreUnknownUntilTheyAreMeasured) {
    PartFigures figures;
    EXPECT_FALSE(figures.known());
    EXPECT_TRUE(std::isnan(figures.of("accuracy")));
    figures = unknown_figures(metrics({"accuracy", "rmse"}));
    ASSERT_EQ(figures.metrics.size(), 2U);
    EXPECT_EQ(figures.metrics[1].key, "rmse");
    EXPECT_TRUE(std::isnan(figures.loss));
    EXPECT_TRUE(std::isnan(figures.of("rmse")));
    EXPECT_FALSE(figures.known());
}

TEST(PartFigures, AreKnownByTheirLossOrByAMetric) {
    EXPECT_TRUE((PartFigures{.loss = 0.5}).known());
    EXPECT_TRUE((PartFigures{.loss = HUGE_VAL}).known());
    PartFigures figures = unknown_figures(metrics({"accuracy", "rmse"}));
    figures.metrics[1].value = 0;
    EXPECT_TRUE(figures.known());
}

TEST(PartFigures, GiveTheValueOfAMetric) {
    const PartFigures figures{.loss = 1, .metrics = {{"mae", 2}, {"rmse", 3}}};
    EXPECT_EQ(figures.of("mae"), 2);
    EXPECT_EQ(figures.of("rmse"), 3);
    EXPECT_TRUE(std::isnan(figures.of("loss")));
    EXPECT_TRUE(std::isnan(figures.of("")));
}

TEST(Metric, OfClassificationIsAccuracy) {
    const auto all = classification_metrics();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].key, "accuracy");
    EXPECT_TRUE(all[0].higher_is_better);
    EXPECT_TRUE(all[0].is_share);
}

TEST(MetricColumn, OfAccuracyIsTheColumnOfThatName) {
    EXPECT_EQ(metric_column(metrics({"accuracy"}), 0), &StepRecord::accuracy);
    EXPECT_EQ(metric_column(metrics({"mae", "accuracy"}), 1), &StepRecord::accuracy);
}

TEST(MetricColumn, OfOtherMetricsIsTheirNumberAmongThem) {
    const auto regression = metrics({"rmse", "mae"});
    EXPECT_EQ(metric_column(regression, 0), &StepRecord::metric_1);
    EXPECT_EQ(metric_column(regression, 1), &StepRecord::metric_2);
    const auto mixed = metrics({"accuracy", "top5", "perplexity"});
    EXPECT_EQ(metric_column(mixed, 1), &StepRecord::metric_1);
    EXPECT_EQ(metric_column(mixed, 2), &StepRecord::metric_2);
    const auto between = metrics({"top5", "accuracy", "perplexity"});
    EXPECT_EQ(metric_column(between, 0), &StepRecord::metric_1);
    EXPECT_EQ(metric_column(between, 2), &StepRecord::metric_2);
}

TEST(MetricColumn, RefusesMoreMetricsThanTheRecordHasColumns) {
    std::vector<std::string> keys{"accuracy"};
    for (std::size_t i = 0; i < max_metrics; ++i) keys.push_back("m" + std::to_string(i));
    EXPECT_EQ(metric_column(metrics(keys), max_metrics), &StepRecord::metric_8);
    keys.push_back("one too many");
    try {
        metric_column(metrics(keys), max_metrics + 1);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
    }
}

}  // namespace
}  // namespace engine
