#include "text/metric_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr double nanMetric = std::numeric_limits<double>::quiet_NaN();

TEST(MetricText, WritesSharesInPerCentAndOthersAsNumbers) {
    const engine::Metric accuracy = engine::classification_metrics().front();
    EXPECT_EQ(metricValue(accuracy, 0.884), u"88.4\u202f%"_s);
    EXPECT_EQ(metricValue({.key = "rmse", .title = "RMSE"}, 59600), u"59,600"_s);
    EXPECT_EQ(metricValue(accuracy, nanMetric), u"–"_s);
}

TEST(MetricText, TheLossTakesThePlaceOfAMetric) {
    const engine::PartFigures figures{0.25, {{"r2", 0.7}}};
    EXPECT_EQ(valueOf(figures, primaryMetric({})), 0.25);
    EXPECT_EQ(valueOf(figures, primaryMetric({{.key = "r2", .title = "R²"}})), 0.7);
}

TEST(MetricText, WritesWordsSmallWithinASentence) {
    EXPECT_EQ(metricInline(metricOf("perplexity")), u"perplexity"_s);
    EXPECT_EQ(metricInline(metricOf("rmse")), u"RMSE"_s);
    EXPECT_EQ(metricInline(metricOf("r2")), u"R²"_s);
    EXPECT_EQ(metricInline(metricOf("unheard_of")), u"unheard_of"_s);
}

}  // namespace
}  // namespace ui
