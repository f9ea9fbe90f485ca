#include "engine/number/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

std::vector<std::string> tick_labels(AxisKind kind, AxisRange range, int most = 7) {
    std::vector<std::string> out;
    for (const auto& tick : Axis{kind, range}.ticks(most)) {
        EXPECT_GE(tick.at, range.low - std::abs(range.low) * 1e-9);
        EXPECT_LE(tick.at, range.high + std::abs(range.high) * 1e-9);
        out.push_back(tick.text);
    }
    return out;
}

TEST(AxisTicks, AreFewOnAnyRange) {
    for (const int most : {2, 3, 4, 7}) {
        for (int low = -40; low < 30; low += 3) {
            for (int decades = 1; decades < 60; decades += 2) {
                const AxisRange range{std::pow(10.0, low), std::pow(10.0, low + decades)};
                const auto found = std::ssize(tick_labels(AxisKind::log, range, most));
                EXPECT_LE(found, most) << low << " " << decades;
                EXPECT_GE(found, decades > 2 * most ? 1 : 2) << low << " " << decades;
            }
        }
        for (int low = -24; low < 20; low += 5) {
            for (int powers = 2; powers < 150; powers += 3) {
                const AxisRange range{std::ldexp(1.0, low), std::ldexp(1.0, low + powers)};
                EXPECT_LE(std::ssize(tick_labels(AxisKind::log2, range, most)), most);
            }
        }
    }
    for (int end = 2; end < 100'000; ++end) {
        const auto ticks = tick_labels(AxisKind::steps, {0, static_cast<double>(end)}).size();
        ASSERT_GE(ticks, 3u) << end;
        ASSERT_LE(ticks, 6u) << end;
    }
}

TEST(AxisTicks, AreRoundNumbersWithinTheRange) {
    EXPECT_THAT(tick_labels(AxisKind::linear, {0, 100}),
                ElementsAre("0", "20", "40", "60", "80", "100"));
    EXPECT_THAT(tick_labels(AxisKind::linear, {-1, 1}), ElementsAre("-1", "-0.5", "0", "0.5", "1"));
    EXPECT_THAT(tick_labels(AxisKind::linear, {13'000, 14'000}),
                ElementsAre("13,000", "13,200", "13,400", "13,600", "13,800", "14,000"));
    EXPECT_THAT(tick_labels(AxisKind::linear, {0.3, 0.3 + 2e-9}), Contains("0.3000000005"));
    EXPECT_THAT(tick_labels(AxisKind::linear, {3, 3}), ElementsAre());
    EXPECT_THAT(tick_labels(AxisKind::whole, {0, 2}), ElementsAre("0", "1", "2"));
    EXPECT_THAT(tick_labels(AxisKind::steps, {0, 158}), ElementsAre("0", "50", "100", "150"));
    EXPECT_THAT(tick_labels(AxisKind::steps, {0, 3910}), ElementsAre("0", "1,000", "2,000", "3,000"));
    EXPECT_THAT(tick_labels(AxisKind::steps, {0, 2e6}), Contains("0.5\u2009M"));
    EXPECT_THAT(tick_labels(AxisKind::bytes, {0, 4e6}), Contains("1.00 MB"));
}

TEST(AxisTicks, ArePowersOfTenBeyondFourDecades) {
    EXPECT_THAT(tick_labels(AxisKind::log, {1e-10, 1e2}),
                AllOf(Contains("10⁻⁸"), Each(StartsWith("10"))));
    EXPECT_THAT(tick_labels(AxisKind::log, {0.2, 5}), ElementsAre("0.2", "0.5", "1", "2", "5"));
    EXPECT_THAT(tick_labels(AxisKind::linear, {0, 5e-5}), Contains("2·10⁻⁵"));
}

TEST(AxisTicks, TellSharesThatAreCloseToEachOtherApart) {
    EXPECT_THAT(tick_labels(AxisKind::share, {0, 1}),
                ElementsAre("0\u202f%", "20\u202f%", "40\u202f%", "60\u202f%", "80\u202f%",
                            "100\u202f%"));
    for (const AxisRange range : {AxisRange{0.62, 0.66}, AxisRange{0.6210, 0.6214}}) {
        const auto found = tick_labels(AxisKind::share, range);
        EXPECT_GE(found.size(), 3u);
        for (std::size_t i = 1; i < found.size(); ++i) EXPECT_NE(found[i - 1], found[i]);
    }
}

TEST(AxisTicks, CountTimeInRoundStridesOfTheClock) {
    EXPECT_EQ(tick_labels(AxisKind::time, {0, 1}).back(), "1\u202fs");
    EXPECT_THAT(tick_labels(AxisKind::time, {0, 125}), Contains("1:00"));
    EXPECT_LE(tick_labels(AxisKind::time, {0, 400'000}).size(), 8u);
}

TEST(Axis, PlacesValuesBetweenItsEnds) {
    EXPECT_DOUBLE_EQ((Axis{AxisKind::linear, {2, 6}}.place(3)), 0.25);
    EXPECT_DOUBLE_EQ((Axis{AxisKind::log, {0.01, 100}}.place(1)), 0.5);
    EXPECT_DOUBLE_EQ((Axis{AxisKind::log2, {1, 16}}.place(2)), 0.25);
}

TEST(RoundAxis, HoldsTheDataOnEveryKind) {
    const std::pair<double, double> data[] = {
        {0.012, 2.4}, {3, 3}, {0.5, 1}, {1024, 131072}, {1, 7e6}};
    for (const auto kind : {AxisKind::linear, AxisKind::log, AxisKind::log2, AxisKind::bytes}) {
        for (const auto& [low, high] : data) {
            const AxisRange range = round_axis(low, high, kind).range;
            EXPECT_LE(range.low, low);
            EXPECT_GE(range.high, high);
            EXPECT_LT(range.low, range.high);
        }
    }
}

TEST(RoundAxis, EndsAtRoundNumbers) {
    const AxisRange decimal = round_axis(0.23, 2.4, AxisKind::log).range;
    EXPECT_NEAR(decimal.low, 0.2, 1e-12);
    EXPECT_NEAR(decimal.high, 5, 1e-12);
    const AxisRange binary = round_axis(3000, 65536, AxisKind::log2).range;
    EXPECT_EQ(std::log2(binary.low), std::floor(std::log2(binary.low)));
    EXPECT_EQ(std::log2(binary.high), std::floor(std::log2(binary.high)));
    const AxisRange share = round_axis(0.4, 0.5, AxisKind::share).range;
    EXPECT_EQ(share.low, 0);
    EXPECT_EQ(share.high, 1);
}

TEST(RoundAxis, IsUsableWithoutUsableData) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto kind :
         {AxisKind::linear, AxisKind::log, AxisKind::log2, AxisKind::share, AxisKind::bytes}) {
        for (const auto& [low, high] :
             {std::pair{nan, nan}, std::pair{0.0, 0.0}, std::pair{-3.0, 0.0}}) {
            const AxisRange range = round_axis(low, high, kind).range;
            EXPECT_TRUE(std::isfinite(range.low) && std::isfinite(range.high));
            EXPECT_LT(range.low, range.high);
        }
    }
}

}  // namespace
}  // namespace engine
