#include "engine/number/number_format.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "engine/base/error.h"
#include "gtest/gtest.h"
#include "tensor/cast.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

double to_saturated(const NumberFormat& format, double value) {
    return from_bits(format, to_bits(format, value, true));
}

TEST(NumberFormat, HasTheLimitsThatItsFieldsGive) {
    for (const NumberFormat* format : number_formats()) {
        if (format == &e8m0_format) continue;  // neither a 0 nor subnormal numbers
        const bool fnuz = format == &fp8_e4m3fnuz_format || format == &fp8_e5m2fnuz_format;
        const int bias = (1 << (format->exponent_bits - 1)) - (fnuz ? 0 : 1);
        EXPECT_EQ(format->smallest_normal, std::ldexp(1.0, 1 - bias)) << format->name;
        EXPECT_EQ(format->smallest, std::ldexp(1.0, 1 - bias - format->fraction_bits));
        EXPECT_EQ(std::ldexp(1.0, format->last_flushed_exponent), format->smallest / 2);
        EXPECT_EQ(rounded(*format, format->smallest), format->smallest);
        EXPECT_EQ(rounded(*format, format->smallest / 2), 0);
        EXPECT_EQ(rounded(*format, std::nextafter(format->smallest / 2, 1.0)), format->smallest);
        EXPECT_EQ(rounded(*format, format->largest), format->largest);
        EXPECT_EQ(rounded(*format, std::nextafter(format->overflow, 0.0)), format->largest);
        EXPECT_EQ(rounded(*format, to_saturated(*format, format->overflow)), format->largest);
        const double beyond =
            rounded(*format, format->scale ? format->overflow : -format->overflow);
        EXPECT_TRUE(format->beyond == Beyond::infinity ? std::isinf(beyond) && beyond < 0
                    : format->beyond == Beyond::nan    ? std::isnan(beyond)
                                                       : beyond == -format->largest);
    }
}

TEST(NumberFormat, IsFoundByName) {
    for (const NumberFormat* format : number_formats())
        EXPECT_EQ(find_number_format(format->name), format);
    EXPECT_EQ(find_number_format("fp4"), nullptr);
    EXPECT_EQ(number_formats().size(), 12u);
    EXPECT_EQ(common_number_formats().back(), &fp8_e5m2_format);
}

TEST(NumberFormat, RoundsAsTheEngineCastsItsTensors) {
    std::mt19937_64 random(7);
    std::vector<double> values;
    for (int i = 0; i < 200'000; ++i) {
        const double value = std::bit_cast<double>(random());
        if (!std::isnan(value)) values.push_back(value);
        values.push_back(std::ldexp(static_cast<double>(random()),
                                    static_cast<int>(random() % 80) - 110));  // within FP16
    }
    Tensor x = Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::f64);
    std::ranges::copy(values, x.data_as<double>());
    const auto check = [&](DType dtype, const NumberFormat& format) {
        const Tensor cast = to(to(x, dtype), DType::f64);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(cast.data_as<double>()[i], rounded(format, values[i])) << values[i];
    };
    check(DType::f32, fp32_format);
    check(DType::f16, fp16_format);
    check(DType::bf16, bf16_format);
}

TEST(NumberFormat, StepsThroughAllValuesInOrder) {
    for (const NumberFormat* format : number_formats()) {
        if (format->width() > 16) continue;
        std::uint32_t bits = format->scale
                                 ? 0
                                 : to_bits(*format, format->beyond == Beyond::infinity
                                                        ? -std::numeric_limits<double>::infinity()
                                                        : -format->largest);
        EXPECT_FALSE(next_below(*format, bits)) << format->name;
        std::uint32_t steps = 0;
        while (const auto above = next_above(*format, bits)) {
            ASSERT_GT(from_bits(*format, *above), from_bits(*format, bits));
            const auto back = next_below(*format, *above);
            ASSERT_TRUE(back);
            ASSERT_EQ(from_bits(*format, *back), from_bits(*format, bits));
            bits = *above;
            ++steps;
        }
        // Every pattern except the NaNs; the two zeros are one value.
        std::uint32_t values = 0;
        for (std::uint32_t each = 0; each < 1u << format->width(); ++each)
            values += classify(*format, each) != NumberClass::nan ? 1 : 0;
        const bool two_zeros = classify(*format, 1u << (format->width() - 1)) == NumberClass::zero;
        EXPECT_EQ(steps, values - (two_zeros ? 2 : 1)) << format->name;
    }
}

TEST(NumberFormat, HasAGapThatLeadsToTheNextValue) {
    for (const NumberFormat* format : number_formats()) {
        for (const double value :
             {0.0, 0.1, 1.0, 1.75, format->smallest, format->smallest_normal}) {
            const std::uint32_t bits = to_bits(*format, value);
            const auto above = next_above(*format, bits);
            ASSERT_TRUE(above);
            EXPECT_EQ(from_bits(*format, *above) - from_bits(*format, bits), gap(*format, bits));
        }
        EXPECT_EQ(std::isnan(gap(*format, to_bits(*format, 1e300))), format != &fp4_e2m1_format);
    }
    EXPECT_EQ(gap(fp16_format, to_bits(fp16_format, 65504)), 32);
    EXPECT_EQ(gap(fp16_format, to_bits(fp16_format, -0.1)), 0x1p-14);
}

TEST(NumberFormat, TellsWhatBitsStandFor) {
    EXPECT_EQ(classify(fp16_format, 0x8000), NumberClass::zero);
    EXPECT_EQ(classify(fp16_format, 0x83ff), NumberClass::subnormal);
    EXPECT_EQ(classify(fp16_format, 0x0400), NumberClass::normal);
    EXPECT_EQ(classify(fp16_format, 0xfc00), NumberClass::infinite);
    EXPECT_EQ(classify(fp16_format, 0x7c01), NumberClass::nan);
    EXPECT_EQ(classify(fp8_e4m3_format, 0x7e), NumberClass::normal);
    EXPECT_EQ(classify(fp8_e4m3_format, 0xff), NumberClass::nan);
    EXPECT_STREQ(name(NumberClass::subnormal), "subnormal");
    EXPECT_FALSE(next_above(fp16_format, 0x7c01));
}

TEST(NumberFormat, SaturatesFiniteNumbersAlone) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(to_saturated(fp8_e4m3_format, -1e9), -448);
    EXPECT_EQ(to_saturated(fp16_format, 1e9), 65504);
    EXPECT_EQ(to_saturated(e8m0_format, 1e300), 0x1p127);
    EXPECT_TRUE(std::isnan(to_saturated(fp8_e4m3_format, infinite)));
    EXPECT_EQ(to_saturated(fp8_e5m2_format, infinite), infinite);
    EXPECT_EQ(rounded(fp4_e2m1_format, -infinite), -6);
    EXPECT_EQ(to_bits(fp4_e2m1_format, std::nan("")), 7u);
}

TEST(NumberFormat, HasScalesThatAreNeverNegative) {
    EXPECT_EQ(to_bits(e8m0_format, -1), 0xffu);
    EXPECT_EQ(to_bits(ue4m3_format, -1), 0x7fu);
    EXPECT_EQ(to_bits(ue4m3_format, -0.0), 0u);
    EXPECT_EQ(rounded(e8m0_format, 0), 0x1p-127);
    EXPECT_EQ(rounded(e8m0_format, 3), 4);
    EXPECT_EQ(classify(e8m0_format, 0), NumberClass::normal);
    EXPECT_FALSE(next_below(e8m0_format, 0));
    EXPECT_EQ(next_below(ue4m3_format, 1), 0u);
}

TEST(NumberFormat, RoundsAtRandomWithTheMeanOfTheValue) {
    const auto rounding = round_at_random(fp4_e2m1_format, -2.25, 40'000);
    EXPECT_EQ(rounding.low, 0xcu);
    EXPECT_EQ(rounding.high, 0xdu);
    EXPECT_EQ(rounding.chance, 0.25);
    EXPECT_EQ(rounding.lows + rounding.highs, 40'000);
    EXPECT_NEAR(static_cast<double>(rounding.highs), 10'000, 4 * std::sqrt(7500));
    const auto exact = round_at_random(fp8_e5m2_format, 1.25, 10);
    EXPECT_EQ(exact.low, exact.high);
    EXPECT_EQ(exact.lows, 10);
    EXPECT_EQ(round_at_random(fp4_e2m1_format, 100, 3).high, 7u);
    EXPECT_THROW(round_at_random(fp16_format, 1, 1), Error);
    EXPECT_THROW(round_at_random(e8m0_format, 1, 1), Error);
    EXPECT_THROW(round_at_random(fp4_e2m1_format, std::nan(""), 1), Error);
}

}  // namespace
}  // namespace engine
