#include "twin/twin_table.h"

#include <gtest/gtest.h>

#include <QStringList>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/number/axis.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(ErrorCeiling, HoldsTheLargestError) {
    EXPECT_EQ(errorCeiling(0), 1);
    EXPECT_EQ(errorCeiling(0.3), 1);
    EXPECT_EQ(errorCeiling(1), 1);
    EXPECT_EQ(errorCeiling(3), 10);
    EXPECT_EQ(errorCeiling(10), 10);
    EXPECT_EQ(errorCeiling(2700), 1e4);
    EXPECT_EQ(errorCeiling(std::numeric_limits<double>::infinity()), 1);
}

TEST(ErrorCeiling, LeavesATickAtTheWholeGradient) {
    for (const double ceiling : {1.0, 10.0, 100.0, 1e3, 1e4}) {
        for (const int most : {4, 5, 6}) {
            const auto ticks = engine::Axis{engine::AxisKind::log, {1e-4, ceiling}}.ticks(most);
            EXPECT_TRUE(std::ranges::any_of(
                ticks, [](const auto& tick) { return std::abs(tick.at - 1) < 1e-9; }))
                << ceiling << ' ' << most;
        }
    }
}

/// U9: an axis of "1,000 %" is read as 100 %.
TEST(GradientErrorText, IsAShareAndAFactorWhereItIsLarge) {
    using namespace Qt::StringLiterals;
    EXPECT_EQ(gradientErrorText(0.0012), u"0.12\u202f%"_s);
    EXPECT_EQ(gradientErrorText(1, 1), u"100\u202f%"_s);
    EXPECT_EQ(gradientErrorText(3.5), u"350\u202f%"_s);
    EXPECT_EQ(gradientErrorText(10, 1), u"×10"_s);
    EXPECT_EQ(gradientErrorText(1e4, 1), u"×10,000"_s);
    EXPECT_EQ(gradientErrorText(std::numeric_limits<double>::quiet_NaN()), u"–"_s);
}

}  // namespace
}  // namespace ui
