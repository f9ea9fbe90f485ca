#include "plots/axis_tickers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ui {
namespace {

TEST(RoundRange, HoldsTheDataOnEveryKindOfAxis) {
    const std::pair<double, double> data[] = {
        {0.012, 2.4}, {3, 3}, {0.5, 1}, {1024, 131072}, {1, 7e6}};
    for (const auto kind : {AxisKind::linear, AxisKind::log, AxisKind::log2, AxisKind::bytes}) {
        for (const auto& [low, high] : data) {
            const QCPRange range = roundRange(low, high, kind);
            EXPECT_LE(range.lower, low);
            EXPECT_GE(range.upper, high);
            EXPECT_LT(range.lower, range.upper);
        }
    }
}

TEST(RoundRange, EndsALogAxisAt125) {
    const QCPRange range = roundRange(0.23, 2.4, AxisKind::log);
    EXPECT_NEAR(range.lower, 0.2, 1e-12);
    EXPECT_NEAR(range.upper, 5, 1e-12);
}

TEST(RoundRange, EndsABase2AxisAtPowersOfTwo) {
    const QCPRange range = roundRange(3000, 65536, AxisKind::log2);
    EXPECT_EQ(std::log2(range.lower), std::floor(std::log2(range.lower)));
    EXPECT_EQ(std::log2(range.upper), std::floor(std::log2(range.upper)));
}

TEST(RoundRange, IsUsableWithoutUsableData) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto kind :
         {AxisKind::linear, AxisKind::log, AxisKind::log2, AxisKind::share, AxisKind::bytes}) {
        for (const auto& [low, high] :
             {std::pair{nan, nan}, std::pair{0.0, 0.0}, std::pair{-3.0, 0.0}}) {
            const QCPRange range = roundRange(low, high, kind);
            EXPECT_TRUE(std::isfinite(range.lower) && std::isfinite(range.upper));
            EXPECT_LT(range.lower, range.upper);
        }
    }
}

TEST(RoundRange, ShowsSharesFrom0To1) {
    const QCPRange range = roundRange(0.4, 0.5, AxisKind::share);
    EXPECT_EQ(range.lower, 0);
    EXPECT_EQ(range.upper, 1);
}

}  // namespace
}  // namespace ui
