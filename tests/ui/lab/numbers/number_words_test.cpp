#include "lab/numbers/number_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(NumberWords, WriteAValueSoThatItIsReadAgain) {
    EXPECT_EQ(typedText(0.1), u"0.1"_s);
    EXPECT_EQ(typedText(-0x1p-24), u"-2^-24"_s);
    EXPECT_EQ(typedText(1), u"1"_s);
    EXPECT_EQ(typedText(std::numeric_limits<double>::infinity()), u"inf"_s);
    for (const double value : {0.1, 65504.0, -0x1.8p-20, 0x1p-149, 0x1.fffffep127, 1.0 / 3}) {
        const auto read = engine::parse_number(typedText(value).toStdString(), engine::fp16_format);
        EXPECT_NEAR(read.value, value, std::fabs(value) * 0x1p-52);
    }
}

TEST(NumberWords, WriteStoredValuesWithAllDigitsThatFit) {
    EXPECT_EQ(storedText(0.0999755859375), u"0.0999755859375"_s);
    EXPECT_EQ(storedText(static_cast<double>(0.1f)), u"0.1000000014901…"_s);
    EXPECT_EQ(storedText(-65504), u"−65504"_s);
    EXPECT_EQ(storedText(0x1p-24), u"2⁻²⁴"_s);
    EXPECT_EQ(storedText(-std::numeric_limits<double>::infinity()), u"−∞"_s);
    EXPECT_EQ(storedText(std::nan("")), u"NaN"_s);
    EXPECT_EQ(storedText(0), u"0"_s);
}

TEST(NumberWords, WriteNearValuesInSoManyDigits) {
    EXPECT_EQ(nearText(0.09991455078125, 7), u"0.09991455"_s);
    EXPECT_EQ(nearText(0.09375, 7), u"0.09375"_s);
    EXPECT_EQ(nearText(0x1.fffffep127, 3), u"3.4·10³⁸"_s);
    EXPECT_EQ(nearText(-1e9, 3), u"−10⁹"_s);
    EXPECT_EQ(nearText(3 * 0x1p-24, 3), u"1.79·10⁻⁷"_s);
    EXPECT_EQ(nearText(-0x1p-16, 7), u"−2⁻¹⁶"_s);
    // FP32 neighbours of a small number differ in the ninth digit.
    EXPECT_NE(nearText(static_cast<double>(0x1.1p-77f), 9),
              nearText(static_cast<double>(0x1.100002p-77f), 9));
    EXPECT_EQ(nearText(0, 3), u"0"_s);
}

TEST(NumberWords, WriteErrors) {
    const auto error = [](const char* text, const engine::NumberFormat& format) {
        return errorText(store_number(format, engine::parse_number(text, format)));
    };
    EXPECT_EQ(error("0.1", engine::fp16_format), u"−0.0244 %"_s);
    EXPECT_EQ(error("0.1", engine::fp8_e4m3_format), u"+1.56 %"_s);
    EXPECT_EQ(error("0.1", engine::fp32_format), u"+1.5·10⁻⁸"_s);
    EXPECT_EQ(error("65520", engine::fp16_format), QString());
    EXPECT_EQ(error("2^-26", engine::fp16_format), u"−100 %"_s);
    EXPECT_EQ(factoredText(0.0999755859375), u"2⁻⁴ × 1.599609375"_s);
    EXPECT_EQ(factoredText(0), QString());
}

TEST(NumberWords, AFigureInASentenceHasNoTrailingZeros) {
    EXPECT_EQ(plainText(65520), u"65,520"_s);
    EXPECT_EQ(plainText(-15), u"−15"_s);
    EXPECT_EQ(plainText(1.0), u"1"_s);
    EXPECT_EQ(plainText(0.3125), u"0.313"_s);
    EXPECT_EQ(plainText(1234.5), u"1,230"_s);
    EXPECT_EQ(plainText(-0x1p-25), u"−2⁻²⁵"_s);
    EXPECT_EQ(plainText(-1e-8), u"−10⁻⁸"_s);
    EXPECT_EQ(plainText(NAN), u"NaN"_s);
    EXPECT_EQ(plainText(INFINITY), u"∞"_s);
}

}  // namespace
}  // namespace ui
