#include "plots/polyline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ui {
namespace {

using testing::ElementsAre;

constexpr double nanValue = std::numeric_limits<double>::quiet_NaN();

SeriesPyramid::Columns columnsOf(const std::vector<double>& values) {
    SeriesPyramid::Columns columns;
    for (const double value : values) columns.buckets.emplace_back().add(value);
    return columns;
}

TEST(Polyline, PutsRowIAtStepIPlus1) {
    const Polyline line = envelope(columnsOf({5, 6}));
    EXPECT_EQ(line.x, (QVector<double>{1, 2}));
    EXPECT_EQ(line.y, (QVector<double>{5, 6}));
}

TEST(Polyline, TakesEveryColumnFromItsLowestToItsHighest) {
    SeriesPyramid::Columns columns;
    columns.width = 2;
    columns.buckets.resize(2);
    columns.buckets[0].add(1);
    columns.buckets[0].add(9);
    columns.buckets[1].add(8);
    columns.buckets[1].add(2);
    const Polyline line = envelope(columns);
    EXPECT_EQ(line.x, (QVector<double>{1.5, 1.5, 3.5, 3.5}));
    EXPECT_EQ(line.y, (QVector<double>{1, 9, 8, 2}));  // 8 first, since it is nearer to 9
}

TEST(Polyline, BreaksAtNaN) {
    const Polyline line = envelope(columnsOf({1, nanValue, 2}));
    EXPECT_TRUE(std::isnan(line.y[1]));
    const auto marks = nonFinite(columnsOf({1, nanValue, std::numeric_limits<double>::infinity()}));
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_TRUE(marks[0].nan && !marks[0].up);
    EXPECT_TRUE(marks[1].up && !marks[1].nan);
}

TEST(Polyline, DrawsALevelScaleWithTwoPointsAndAStepWithTwoMore) {
    EXPECT_EQ(stairs(columnsOf({4, 4, 4, 4})).x.size(), 2);
    const Polyline line = stairs(columnsOf({4, 4, 8, 8}));
    EXPECT_EQ(line.x, (QVector<double>{0.5, 2.5, 2.5, 4.5}));
    EXPECT_EQ(line.y, (QVector<double>{4, 4, 8, 8}));
}

TEST(Polyline, AveragesTheRowsUpToEachColumn) {
    const Polyline line = trailingMean(columnsOf({1, 2, 3, 4, 5}), 3, 0, 9);
    EXPECT_EQ(line.y, (QVector<double>{1, 1.5, 2, 3, 4}));
    const Polyline inside = trailingMean(columnsOf({1, 2, 3, 4, 5}), 3, 3, 4);
    EXPECT_EQ(inside.y, (QVector<double>{2, 3}));  // the rows before them count, but are not drawn
}

TEST(Polyline, AveragesOnAsBeforeAfterOneHugeValue) {
    const Polyline line = trailingMean(columnsOf({1, 1e30, 1, 1, 1}), 3, 5, 5);
    EXPECT_EQ(line.y, (QVector<double>{1}));
}

TEST(Polyline, AveragesAtLeast20RowsAndARoundNumberOfThem) {
    EXPECT_EQ(smoothingWindow(1), 20);
    EXPECT_EQ(smoothingWindow(8), 50);
    EXPECT_EQ(smoothingWindow(1024), 5000);
}

TEST(Polyline, SpreadsLabelsWithoutOverlapAndWithinThePlot) {
    const auto placed = spreadLabels({50, 51, 49, 99}, 10, 0, 100);
    for (std::size_t a = 0; a < placed.size(); ++a) {
        EXPECT_GE(placed[a], 5);
        EXPECT_LE(placed[a], 95);
        for (std::size_t b = 0; b < a; ++b) EXPECT_GE(std::abs(placed[a] - placed[b]), 10);
    }
    EXPECT_LT(placed[2], placed[0]);
    EXPECT_LT(placed[0], placed[1]);
    EXPECT_EQ(spreadLabels({30}, 10, 0, 100), std::vector<double>{30});
}

}  // namespace
}  // namespace ui
