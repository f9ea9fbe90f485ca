#include "text/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(Format, SeparatesThousands) {
    EXPECT_EQ(count(0), u"0"_s);
    EXPECT_EQ(count(999), u"999"_s);
    EXPECT_EQ(count(1204), u"1,204"_s);
    EXPECT_EQ(count(-1234567), u"-1,234,567"_s);
}

TEST(Format, GivesThreeSignificantDigits) {
    EXPECT_EQ(significant(0.3124), u"0.312"_s);
    EXPECT_EQ(significant(2.3456), u"2.35"_s);
    EXPECT_EQ(significant(13214), u"13,200"_s);
    EXPECT_EQ(significant(0), u"0"_s);
    EXPECT_EQ(significant(3.17e-6), u"3.17·10⁻⁶"_s);
    EXPECT_EQ(significant(0.0005), u"0.000500"_s);
    EXPECT_EQ(significant(1.25e-8), u"1.25·10⁻⁸"_s);
}

TEST(Format, WritesNaNAndInfinityAndKeepsTheDashForWhatWasNotMeasured) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (auto* write :
         {static_cast<QString (*)(double)>(significant), percent, powerOfTwo, milliseconds}) {
        EXPECT_EQ(write(nan), u"NaN"_s);
        EXPECT_EQ(write(inf), u"∞"_s);
        EXPECT_EQ(write(-inf), u"−∞"_s);
        EXPECT_EQ(measured(nan, write), u"–"_s);
        EXPECT_EQ(measured(inf, write), u"∞"_s);
    }
    EXPECT_EQ(measured(0.5, percent), percent(0.5));
}

TEST(Format, WritesPowersOfTwoAsPowersAndNothingElse) {
    EXPECT_EQ(powerOfTwo(65536), u"2¹⁶"_s);
    EXPECT_EQ(powerOfTwo(1), u"2⁰"_s);
    EXPECT_EQ(powerOfTwo(0.25), u"2⁻²"_s);
    EXPECT_EQ(powerOfTwo(1000), u"1,000"_s);
    EXPECT_EQ(powerOfTwo(109'880), u"≈ 110,000"_s);
    EXPECT_EQ(powerWithValue(65536), u"2¹⁶ = 65,536"_s);
    EXPECT_EQ(powerOfTwo(0), u"0"_s);
}

TEST(Format, NamesThePowerOfTwoWithinALimitOfTheScale) {
    EXPECT_EQ(scaleLimit(3'666'000), u"≈ 3,670,000 (≥ 2²¹)"_s);
    EXPECT_EQ(scaleLimit(65536), u"2¹⁶"_s);
    EXPECT_EQ(scaleLimit(0.3), u"0.3"_s);
    EXPECT_EQ(scaleLimit(std::numeric_limits<double>::quiet_NaN()), u"NaN"_s);
}

TEST(Format, WritesTimesAndSizes) {
    EXPECT_EQ(duration(19.4), u"0:19"_s);
    EXPECT_EQ(duration(3723), u"1:02:03"_s);
    EXPECT_EQ(duration(std::numeric_limits<double>::infinity()), u"–"_s);
    EXPECT_EQ(bytes(8), u"8 B"_s);
    EXPECT_EQ(bytes(61'000'000), u"61.0 MB"_s);
    EXPECT_EQ(bytes(24'000'000'000), u"24.0 GB"_s);
    EXPECT_EQ(milliseconds(9.72), u"9.72 ms"_s);
}

TEST(TimeLeft, IsToldOnceThePaceIsKnown) {
    TimeLeft left;
    EXPECT_EQ(left.after(0, 10), QString());
    EXPECT_EQ(left.after(0.5, 70), u"1:00 left"_s);
    EXPECT_EQ(left.after(0.1, 71), QString()) << "other work";
    EXPECT_EQ(TimeLeft().behind(u"3 of 5 files"_s, 0.6), u"3 of 5 files"_s);
}

}  // namespace
}  // namespace ui
