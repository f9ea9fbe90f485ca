#include "plots/clipped_points.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ui {
namespace {

/// A series of `values`, which outlives the test's queries.
SeriesPyramid seriesOf(const std::vector<double>& values) {
    SeriesPyramid series([values](std::int64_t first, std::span<double> out) {
        std::copy_n(values.begin() + first, out.size(), out.begin());
    });
    series.append(values);
    return series;
}

TEST(ClippedPoints, AreCountedAboveAndBelowWithinTheRows) {
    std::vector<double> values(5000, 1.0);
    values[3] = values[700] = values[4999] = 50;
    values[4000] = -50;
    values[10] = NAN;
    values[11] = INFINITY;
    const SeriesPyramid series = seriesOf(values);
    const Beyond all = countBeyond(series, 0, 5000, 0, 10);
    EXPECT_EQ(all.above, 3);
    EXPECT_EQ(all.below, 1);
    EXPECT_TRUE(all.all);
    EXPECT_EQ(countBeyond(series, 4, 4999, 0, 10).above, 1) << "only the rows that are asked for";
    EXPECT_EQ(countBeyond(series, -5, 1'000'000, 0, 10).above, 3);
    EXPECT_EQ(countBeyond(series, 0, 5000, -100, 100).above, 0);
    EXPECT_EQ(countBeyond(series, 0, 5000, 2, 10).below, 4996 - 1)
        << "all that are 1, and the lowest";
}

TEST(ClippedPoints, OfALongNoisySeriesAreAtLeastCounted) {
    std::vector<double> values;
    for (int i = 0; i < 400'000; ++i) values.push_back(i % 2 == 0 ? 0 : 9);
    const Beyond found = countBeyond(seriesOf(values), 0, 400'000, -1, 5);
    EXPECT_FALSE(found.all);
    EXPECT_GT(found.above, 100);
    EXPECT_LE(found.above, 200'000);
    EXPECT_EQ(found.below, 0);
}

}  // namespace
}  // namespace ui
