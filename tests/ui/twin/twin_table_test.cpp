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

TEST(TwinCsv, HasALineForEachLayerOfTheStep) {
    engine::TwinDigest digest({"fc,1", "fc2"});
    for (std::int64_t step = 1; step <= 6; ++step) {
        digest.add({.step = step, .layer = 0, .error = step == 1 ? 0.25F : 0.5F, .angle = 2});
        digest.add({.step = step, .layer = 1, .error = 0.01F, .angle = 1});
    }
    const std::array errors{0.5F, std::numeric_limits<float>::quiet_NaN()};
    const std::array angles{2.0F, std::numeric_limits<float>::quiet_NaN()};
    const QStringList lines =
        twinCsv(digest, {.step = 6, .skipped = true, .errors = errors, .angles = angles})
            .split(u'\n');
    ASSERT_EQ(lines.size(), 4) << "head, two layers, the end";
    EXPECT_EQ(lines[0], u"step,skipped,layer,error,angle_degrees,rounding,diverged_step"_s);
    EXPECT_EQ(lines[1], u"6,1,\"fc,1\",0.5,2,0.25,1"_s);
    EXPECT_EQ(lines[2], u"6,1,fc2,,,0.00999999978,"_s);
    EXPECT_EQ(lines[3], QString());
}

}  // namespace
}  // namespace ui
