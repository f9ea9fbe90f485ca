#include "engine/number/figure_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

TEST(FigureText, WritesThreeSignificantDigitsAndAnExponentBelow10ToTheMinus4) {
    EXPECT_EQ(figure_text(0.0005), "0.000500");
    EXPECT_EQ(figure_text(0.0001), "0.000100");
    EXPECT_EQ(figure_text(9.06e-6), "9.06·10⁻⁶");
    EXPECT_EQ(figure_text(-2.5e-17), "-2.50·10⁻¹⁷");
    EXPECT_EQ(figure_text(2.5e9), "2.50·10⁹");
    EXPECT_EQ(figure_text(9.999), "10.0");
    EXPECT_EQ(figure_text(13214), "13,200");
    EXPECT_EQ(figure_text(-1234567), "-1,230,000");
    EXPECT_EQ(figure_text(1234.5678, 6), "1,234.57");
    EXPECT_EQ(figure_text(0), "0");
    EXPECT_EQ(figure_text(INFINITY), "∞");
    EXPECT_EQ(figure_text(-INFINITY), "−∞");
    EXPECT_EQ(figure_text(NAN), "NaN");
}

TEST(FigureText, WritesASizeInTheUnitThatFits) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(999), "999 B");
    EXPECT_EQ(bytes_text(163'000), "163 KB");
    EXPECT_EQ(bytes_text(1'000'000), "1.00 MB");
    EXPECT_EQ(bytes_text(9'999'000'000), "10,000 MB");
    EXPECT_EQ(bytes_text(24'000'000'000), "24.0 GB");
    EXPECT_EQ(estimated_bytes_text(0), "0 B");
    EXPECT_EQ(estimated_bytes_text(163e3), "163 KB");
    EXPECT_EQ(estimated_bytes_text(6e20), figure_text(6e11) + " GB");
}

TEST(FigureText, WritesAnEnergyInTheUnitThatFits) {
    EXPECT_EQ(energy_text(0), "0 J");
    EXPECT_EQ(energy_text(120), "120 J");
    EXPECT_EQ(energy_text(18'000), "18.0 kJ");
    EXPECT_EQ(energy_text(3.6e6), "3.60 MJ");
}

TEST(FigureText, LeavesOutZerosAtTheEndWhereAsked) {
    EXPECT_EQ(short_figure_text(2), "2");
    EXPECT_EQ(short_figure_text(0.5), "0.5");
    EXPECT_EQ(short_figure_text(1.125), "1.12");
    EXPECT_EQ(short_figure_text(1000), "1,000");
    EXPECT_EQ(short_figure_text(2.5e-10), "2.50·10⁻¹⁰");
}

TEST(FigureText, WritesPowersOfTwoAsPowersAndMarksRoundedNumbers) {
    EXPECT_EQ(power_text(65536), "2¹⁶");
    EXPECT_EQ(power_text(1), "2⁰");
    EXPECT_EQ(power_text(0.25), "2⁻²");
    EXPECT_EQ(power_text(0x1p-40), "2⁻⁴⁰");
    EXPECT_EQ(power_text(1000), "1,000") << "exact";
    EXPECT_EQ(power_text(109'880), "≈ 110,000");
    EXPECT_EQ(power_text(-65536), "≈ -65,500");
    EXPECT_EQ(power_text(0), "0");
    EXPECT_EQ(power_text(NAN), "NaN");
    EXPECT_EQ(power_text(INFINITY), "∞");
}

TEST(FigureText, WritesAPowerWithItsValue) {
    EXPECT_EQ(power_value_text(65536), "2¹⁶ = 65,536");
    EXPECT_EQ(power_value_text(16777216), "2²⁴ = 16,777,216");
    EXPECT_EQ(power_value_text(0.25), "2⁻² = 0.25");
    EXPECT_EQ(power_value_text(0x1p-12), "2⁻¹² ≈ 0.000244");
    EXPECT_EQ(power_value_text(0x1p-38), "2⁻³⁸ ≈ 3.64·10⁻¹²");
    EXPECT_EQ(power_value_text(109'880), "≈ 110,000");
}

TEST(FigureText, NeverWritesTwoUnequalNumbersOfALimitAsIfTheyWereEqual) {
    EXPECT_EQ(scale_limit_text(109'880), "≈ 110,000 (≥ 2¹⁶)");
    EXPECT_EQ(scale_limit_text(3'666'000), "≈ 3,670,000 (≥ 2²¹)");
    EXPECT_EQ(scale_limit_text(65536), "2¹⁶");
    EXPECT_EQ(scale_limit_text(0.3), "0.3");
    EXPECT_EQ(scale_limit_text(NAN), "NaN");
}

TEST(FigureText, RoundsAMagnitudeDownToAPowerOfTwo) {
    EXPECT_EQ(magnitude_text(0.3), "2⁻²");
    EXPECT_EQ(magnitude_text(65504), "2¹⁵");
    EXPECT_EQ(magnitude_text(0), "-");
    EXPECT_EQ(magnitude_text(NAN), "-");
    EXPECT_EQ(magnitude_text(INFINITY), "∞");
}

}  // namespace
}  // namespace engine
