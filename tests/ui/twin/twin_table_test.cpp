#include "twin/twin_table.h"

#include <gtest/gtest.h>

#include <QStringList>
#include <array>
#include <limits>

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
