#include "engine/number/number_text.h"

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "gtest/gtest.h"

namespace engine {
namespace {

double value(const char* text) { return parse_number(text, fp16_format).value; }

TEST(NumberText, ReadsWhatAPersonWrites) {
    EXPECT_EQ(value("0.5"), 0.5);
    EXPECT_EQ(value(" -1.5e2 "), -150);
    EXPECT_EQ(value("+.25"), 0.25);
    EXPECT_EQ(value("3."), 3);
    EXPECT_EQ(value("2^-24"), 0x1p-24);
    EXPECT_EQ(value("-2^10"), -1024);
    EXPECT_EQ(value("3*2^-5"), 0x3p-5);
    EXPECT_EQ(value("−1.5×2⁻²⁴"), -0x1.8p-24);
    EXPECT_EQ(value("2⁻²⁴"), 0x1p-24);
    EXPECT_EQ(value("10^3"), 1000);
    EXPECT_EQ(value("2.5 * 10^2"), 250);
    EXPECT_EQ(value("3/8"), 0.375);
    EXPECT_EQ(value("2^-24/2"), 0x1p-25);
    EXPECT_EQ(value("0x1.8p-3"), 0x1.8p-3);
    EXPECT_EQ(value("-0x1.8p+3"), -12);
    EXPECT_EQ(value("0x3c00"), 1);
    EXPECT_EQ(value("0b0011110000000000"), 1);
    EXPECT_EQ(value("-INF"), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(value("∞"), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(value("NaN")));
    EXPECT_TRUE(std::isnan(value("0x7c01")));
    EXPECT_EQ(parse_number("0x38", fp8_e4m3_format).value, 1);
    EXPECT_TRUE(std::signbit(value("-0")));
}

TEST(NumberText, RefusesEverythingElseInOneSentence) {
    for (const char* text :
         {"",         "-",     ".",       "abc", "1e",   "1e+", "0x",
          "0xg",      "0b2",   "-0x3c00", "1,5", "2^",   "2^x", "1/0",
          "1/",       "0.1/3", "1*3",     "--1", "1 2x", "e5",  "0x1.000000000000001p0",
          "1*2^-3*2", "nano"})
        EXPECT_THROW((void)parse_number(text, fp16_format), Error) << text;
    try {
        (void)parse_number("0x1ffff", fp16_format);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.message().str(), "0x1ffff has more bits than FP16, which has 16.");
    }
    EXPECT_NO_THROW((void)parse_number("0x1ffff", tf32_format));
    EXPECT_THROW((void)parse_number(std::string(1101, '1'), fp16_format), Error);
    EXPECT_NO_THROW((void)parse_number(std::string(1100, '1'), fp16_format));
}

TEST(NumberText, KnowsWhetherADoubleHoldsTheNumber) {
    EXPECT_TRUE(parse_number("0.5", fp16_format).exact);
    EXPECT_TRUE(
        parse_number("0.1000000000000000055511151231257827021181583404541015625", fp16_format)
            .exact);
    EXPECT_FALSE(parse_number("0.1", fp16_format).exact);
    EXPECT_FALSE(parse_number("1/3", fp16_format).exact);
    EXPECT_TRUE(parse_number("1e5", fp16_format).exact);
    EXPECT_FALSE(parse_number("1e400", fp16_format).exact);
    EXPECT_FALSE(parse_number("1e-400", fp16_format).exact);
    EXPECT_FALSE(parse_number("2^-2000", fp16_format).exact);
    EXPECT_TRUE(std::isfinite(value("1e999999999999")));
    EXPECT_GT(value("1e-999999999999"), 0);
    EXPECT_EQ(value("0e999999999999"), 0);
}

TEST(NumberText, RoundsADecimalToAFormatOnce) {
    // 1 + 2^-11 is a tie between two FP16 values. The last digit, which a double could not hold,
    // decides.
    const auto half = [](const std::string& text) {
        return rounded(fp16_format, parse_number(text, fp16_format).value);
    };
    const std::string tie = "1.00048828125";
    EXPECT_EQ(half(tie), 1);
    EXPECT_EQ(half(tie + std::string(60, '0') + "1"), 1 + 0x1p-10);
    EXPECT_EQ(half("1.00048828124" + std::string(60, '9')), 1);
    // 2^-25 is halfway between 0 and the smallest FP16 number.
    EXPECT_EQ(half("2.98023223876953125e-8"), 0);
    EXPECT_EQ(half("2.98023223876953125" + std::string(50, '0') + "1e-8"), 0x1p-24);
    EXPECT_EQ(
        rounded(fp32_format,
                parse_number("1.000000059604644775390625" + std::string(40, '0') + "1", fp32_format)
                    .value),
        1 + 0x1p-23);
    EXPECT_EQ(rounded(fp16_format, value("65519.99999999999999999999999999")), 65504);
}

TEST(NumberText, WritesAllDigits) {
    EXPECT_EQ(exact_decimal(rounded(fp16_format, 0.1)), "0.0999755859375");
    EXPECT_EQ(exact_decimal(65504), "65504");
    EXPECT_EQ(exact_decimal(-0x1p-24), "-0.000000059604644775390625");
    EXPECT_EQ(exact_decimal(0), "0");
    EXPECT_EQ(exact_decimal(-0.0), "-0");
    EXPECT_EQ(exact_decimal(fp32_format.largest), "340282346638528859811704183484516925440");
    EXPECT_EQ(exact_decimal(fp32_format.smallest).size(), 2u + 149u);
    EXPECT_EQ(exact_decimal(-std::numeric_limits<double>::infinity()), "-inf");
    EXPECT_EQ(exact_decimal(std::nan("")), "nan");
    for (const double each : {0.1, 1e300, 5e-324, 1.0 / 3})
        EXPECT_EQ(parse_number(exact_decimal(each), fp16_format).value, each);
}

TEST(NumberText, WritesBits) {
    EXPECT_EQ(hexadecimal(fp16_format, 0x2e66), "0x2e66");
    EXPECT_EQ(hexadecimal(tf32_format, 0x1f), "0x0001f");
    EXPECT_EQ(hexadecimal(fp8_e4m3_format, 0x7e), "0x7e");
    EXPECT_EQ(hexadecimal(fp32_format, 0x3dcccccd), "0x3dcccccd");
    EXPECT_EQ(binary(fp16_format, 0x2e66), "0 01011 1001100110");
    EXPECT_EQ(binary(fp8_e5m2_format, 0xff), "1 11111 11");
}

}  // namespace
}  // namespace engine
