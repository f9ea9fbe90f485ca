#include "series/x_axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ui {
namespace {

/// A run in which every fourth step is skipped, and whose steps get slower.
double valueAt(XKind kind, std::int64_t row) {
    const auto step = static_cast<double>(row + 1);
    if (kind == XKind::update) return std::floor(step * 3 / 4);
    if (kind == XKind::sample) return 32 * step;
    const double seconds = 0.001 * step + 1e-9 * step * step;
    // Paused for a minute after 5,000 steps.
    return kind == XKind::clock ? 1.7e9 + seconds + (row < 5000 ? 0 : 60) : seconds;
}

RowAxis axisOf(std::int64_t rows, std::size_t marks = RowAxis::maxMarks) {
    RowAxis axis(
        [](XKind kind, std::int64_t first, std::span<double> out) {
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = valueAt(kind, first + static_cast<std::int64_t>(i));
            }
        },
        marks);
    for (std::int64_t at = 0; at < rows; at += 1000) axis.grow(std::min(rows, at + 1000));
    return axis;
}

TEST(RowAxis, HasTheExactValueOfEveryStep) {
    const RowAxis axis = axisOf(10'000, 16);
    for (const auto kind : {XKind::update, XKind::sample, XKind::time}) {
        EXPECT_EQ(axis.at(kind, 0), 0);
        for (const std::int64_t step : {1, 2, 63, 64, 65, 777, 9999, 10'000}) {
            EXPECT_EQ(axis.at(kind, static_cast<double>(step)), valueAt(kind, step - 1)) << step;
        }
    }
}

TEST(RowAxis, FindsTheStepOfAValue) {
    const RowAxis axis = axisOf(10'000, 16);
    for (const std::int64_t step : {1, 2, 64, 777, 9999, 10'000}) {
        const auto at = static_cast<double>(step);
        EXPECT_NEAR(axis.stepAt(XKind::time, axis.at(XKind::time, at)), at, 1e-6);
        EXPECT_NEAR(axis.stepAt(XKind::sample, axis.at(XKind::sample, at)), at, 1e-6);
    }
    // Updates: shows the applied step and not the skipped one after it.
    EXPECT_EQ(valueAt(XKind::update, 7), valueAt(XKind::update, 8));
    EXPECT_EQ(axis.stepAt(XKind::update, 6), 8);
}

TEST(RowAxis, CountsTheClockFromTheStartOfTheRunWithItsPauses) {
    const RowAxis axis = axisOf(10'000, 16);
    EXPECT_TRUE(axis.hasClock());
    EXPECT_EQ(axis.at(XKind::clock, 0), 0);
    for (const double step : {1.0, 4999.0, 5000.0})
        EXPECT_NEAR(axis.at(XKind::clock, step), axis.at(XKind::time, step), 1e-6) << step;
    EXPECT_NEAR(axis.at(XKind::clock, 5001), axis.at(XKind::time, 5001) + 60, 1e-6);
    EXPECT_NEAR(axis.stepAt(XKind::clock, axis.at(XKind::clock, 5000) + 30), 5000.5, 1e-3);
    EXPECT_NEAR(axis.stepAt(XKind::clock, axis.at(XKind::clock, 9000)), 9000, 1e-3);
}

TEST(RowAxis, OfAnEarlierVersionHasNoClock) {
    RowAxis axis([](XKind kind, std::int64_t first, std::span<double> out) {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = kind == XKind::clock
                         ? std::numeric_limits<double>::quiet_NaN()
                         : valueAt(kind, first + static_cast<std::int64_t>(i));
    });
    EXPECT_TRUE(axis.hasClock()) << "it has no row yet";
    axis.grow(100);
    EXPECT_FALSE(axis.hasClock());
}

TEST(RowAxis, GoesOnAtTheMeanRateBehindTheLastRow) {
    const RowAxis axis = axisOf(1000);
    EXPECT_DOUBLE_EQ(axis.at(XKind::sample, 2000), 64'000);
    EXPECT_DOUBLE_EQ(axis.stepAt(XKind::sample, 64'000), 2000);
}

TEST(RowAxis, CountsEpochsByTheirSteps) {
    RowAxis axis = axisOf(100);
    axis.setStepsPerEpoch(50);
    EXPECT_DOUBLE_EQ(axis.at(XKind::epoch, 75), 1.5);
    EXPECT_DOUBLE_EQ(axis.stepAt(XKind::epoch, 1.5), 75);
}

TEST(RowAxis, MapsFewRowsExactlyAndManyWithinAFractionOfTheAxis) {
    const RowAxis axis = axisOf(200'000, 64);
    QVector<double> few{100, 101, 101.5, 150};
    axis.map(XKind::time, few);
    EXPECT_DOUBLE_EQ(few[1], valueAt(XKind::time, 100));
    EXPECT_DOUBLE_EQ(few[2], (valueAt(XKind::time, 100) + valueAt(XKind::time, 101)) / 2);
    QVector<double> many;
    for (int step = 0; step <= 200'000; step += 100) many << step;
    const QVector<double> steps = many;
    axis.map(XKind::time, many);
    const double pixel = valueAt(XKind::time, 199'999) / 2000;
    for (qsizetype i = 1; i < many.size(); ++i) {
        EXPECT_NEAR(many[i], valueAt(XKind::time, std::llround(steps[i]) - 1), pixel);
    }
}

TEST(RowAxis, ReadsAFixedNumberOfRowsWhereManyAreVisible) {
    std::int64_t read = 0;
    RowAxis axis([&](XKind kind, std::int64_t first, std::span<double> out) {
        read += std::ssize(out);
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = valueAt(kind, first + static_cast<std::int64_t>(i));
        }
    });
    axis.grow(10'000'000);
    read = 0;
    QVector<double> all;
    for (int i = 0; i < 2000; ++i) all << i * 5000.0;
    axis.map(XKind::time, all);
    axis.stepAt(XKind::time, all[1000]);
    EXPECT_LE(read, 2048);
}

}  // namespace
}  // namespace ui
