#include "series/series_pyramid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>

namespace ui {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A pyramid over a vector that the test owns.
struct Series {
    std::vector<double> rows;
    SeriesPyramid pyramid;

    explicit Series(std::size_t finest = SeriesPyramid::maxBuckets)
        : pyramid(
              [this](std::int64_t first, std::span<double> out) {
                  std::copy_n(rows.begin() + first, out.size(), out.begin());
              },
              finest) {}

    void append(const std::vector<double>& more) {
        rows.insert(rows.end(), more.begin(), more.end());
        pyramid.append(more);
    }
};

Bucket bruteForce(const std::vector<double>& rows, std::int64_t first, std::int64_t last) {
    Bucket all;
    for (auto i = first; i < std::min<std::int64_t>(last, std::ssize(rows)); ++i) {
        all.add(rows[static_cast<std::size_t>(i)]);
    }
    return all;
}

void expectSame(const Bucket& a, const Bucket& b) {
    ASSERT_EQ(a.finite, b.finite);
    EXPECT_EQ(a.nan, b.nan);
    EXPECT_EQ(a.up, b.up);
    EXPECT_EQ(a.down, b.down);
    if (b.finite == 0) return;
    EXPECT_EQ(a.min, b.min);
    EXPECT_EQ(a.max, b.max);
    EXPECT_EQ(a.last, b.last);
    // Two orders of a running f32 mean of n values differ by at most n roundings.
    EXPECT_NEAR(a.mean, b.mean,
                1e-7 * b.finite * std::max(std::abs(b.min), std::abs(b.max)) + 1e-6);
}

std::vector<double> randomRows(std::mt19937& random, std::size_t count) {
    std::vector<double> rows(count);
    for (auto& value : rows) {
        value = static_cast<double>(static_cast<float>(random() % 2000) - 1000.f) / 8;
        const auto kind = random() % 50;
        if (kind == 0) value = nan;
        if (kind == 1) value = inf;
        if (kind == 2) value = -inf;
    }
    return rows;
}

class PyramidOfSize : public testing::TestWithParam<std::size_t> {};

TEST_P(PyramidOfSize, EqualsBruteForceForAnyRangeWidthAndWayOfGrowing) {
    std::mt19937 random(7);
    Series series(GetParam());
    for (int round = 0; round < 60; ++round) {
        series.append(randomRows(random, random() % 700));
        const auto size = std::ssize(series.rows);
        ASSERT_EQ(series.pyramid.size(), size);
        const auto first =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size + 1));
        const auto last =
            first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size + 1));
        expectSame(series.pyramid.total(first, last), bruteForce(series.rows, first, last));
        const auto columns =
            series.pyramid.columns(first, last, 1 + static_cast<std::int64_t>(random() % 40));
        auto at = columns.first;
        for (const Bucket& bucket : columns.buckets) {
            const auto end = columns.width < series.pyramid.base()
                                 ? std::min(at + columns.width, std::min(last, size))
                                 : at + columns.width;
            expectSame(bucket, bruteForce(series.rows, at, end));
            at += columns.width;
        }
        EXPECT_LE(columns.first, first);
        if (first < std::min(last, size)) {
            EXPECT_GE(at, std::min(last, size));
        }
    }
}

// With 60 rounds of 350 rows each, small pyramids drop their finest level several times.
INSTANTIATE_TEST_SUITE_P(SeriesPyramid, PyramidOfSize,
                         testing::Values(4, 16, SeriesPyramid::maxBuckets));

TEST_P(PyramidOfSize, ShowsASpikeOfOneRowAtEveryZoom) {
    Series series(GetParam());
    std::vector<double> rows(100'000, 1.0);
    rows[71'234] = 9.0;
    series.append(rows);
    for (const std::int64_t count : {10, 100, 1000, 10'000, 100'000}) {
        float highest = 0;
        for (const auto& bucket : series.pyramid.columns(0, 100'000, count).buckets) {
            highest = std::max(highest, bucket.max);
        }
        EXPECT_EQ(highest, 9.f);
    }
}

TEST(SeriesPyramid, GivesBetweenOneAndTwoColumnsAPixel) {
    Series series;
    series.append(std::vector<double>(50'000, 1.0));
    for (const std::int64_t pixels : {20, 333, 640, 1000}) {
        const auto n = std::ssize(series.pyramid.columns(0, 50'000, pixels).buckets);
        EXPECT_GE(n, pixels);
        EXPECT_LE(n, 2 * pixels + 1);
    }
}

TEST(SeriesPyramid, KeepsColumnsStillWhileTheSeriesGrows) {
    Series series;
    series.append(std::vector<double>(10'000, 1.0));
    const auto before = series.pyramid.columns(137, 9'000, 300);
    series.append(std::vector<double>(500, 2.0));
    const auto after = series.pyramid.columns(137, 9'000, 300);
    EXPECT_EQ(before.first, after.first);
    EXPECT_EQ(before.width, after.width);
    EXPECT_EQ(before.first % before.width, 0);
}

TEST(SeriesPyramid, HoldsLessThanOneByteARow) {
    Series series;
    const std::vector<double> chunk(4096, 1.0);
    for (int i = 0; i < 250; ++i) series.append(chunk);
    EXPECT_LT(series.pyramid.memory(), 250u * 4096u);
}

TEST(SeriesPyramid, StopsGrowing) {
    Series series(64);
    const std::vector<double> chunk(4096, 1.0);
    for (int i = 0; i < 100; ++i) series.append(chunk);
    EXPECT_EQ(series.pyramid.base(), 8192);
    EXPECT_LT(series.pyramid.memory(), 64u * 3 * sizeof(Bucket) + 4096);
    const Bucket all = series.pyramid.total(0, 100 * 4096);
    EXPECT_EQ(all.finite, 100u * 4096u);
    EXPECT_EQ(all.mean, 1.f);
}

TEST_P(PyramidOfSize, FindsTheNeighbouringRowAbove0) {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        Series series(GetParam());
        std::vector<double> rows(1 + random() % 3000, 0.0);
        for (auto& row : rows) row = random() % 400 == 0 ? 1.0 : 0.0;
        series.append(rows);
        for (int probe = 0; probe < 50; ++probe) {
            const auto from = static_cast<std::int64_t>(random() % rows.size());
            auto back = from;
            while (back >= 0 && rows[static_cast<std::size_t>(back)] == 0) --back;
            auto forth = from;
            while (forth < std::ssize(rows) && rows[static_cast<std::size_t>(forth)] == 0) ++forth;
            EXPECT_EQ(series.pyramid.previousAbove0(from), back);
            EXPECT_EQ(series.pyramid.nextAbove0(from), forth == std::ssize(rows) ? -1 : forth);
        }
    }
}

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
