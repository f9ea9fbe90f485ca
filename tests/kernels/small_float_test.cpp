#include "kernels/small_float.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/dtype.h"

namespace kernels {
namespace {

constexpr FloatLayout half_layout{5, 10, true};
constexpr FloatLayout bfloat16_layout{8, 7, true};

/// The value of every finite pattern, computed from its fields.
double field_value(std::uint32_t magnitude, FloatLayout layout) {
    const int bias = (1 << (layout.exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(magnitude >> layout.fraction_bits);
    const auto fraction = static_cast<double>(magnitude & ((1u << layout.fraction_bits) - 1u));
    const double one = std::ldexp(1.0, layout.fraction_bits);
    return std::ldexp(exponent == 0 ? fraction : fraction + one,
                      std::max(exponent, 1) - bias - layout.fraction_bits);
}

std::uint32_t first_not_finite(FloatLayout layout) {
    const std::uint32_t all = (1u << (layout.exponent_bits + layout.fraction_bits)) - 1u;
    return layout.infinity ? all >> layout.fraction_bits << layout.fraction_bits : all;
}

TEST(SmallFloat, ReadsEveryPatternByItsFields) {
    for (const FloatLayout layout : {tf32_layout, fp8_e4m3_layout, fp8_e5m2_layout, half_layout}) {
        const std::uint32_t sign = 1u << (layout.exponent_bits + layout.fraction_bits);
        for (std::uint32_t bits = 0; bits < first_not_finite(layout); ++bits) {
            ASSERT_EQ(static_cast<double>(from_small_float(bits, layout)),
                      field_value(bits, layout));
            ASSERT_EQ(from_small_float(bits | sign, layout), -from_small_float(bits, layout));
            ASSERT_EQ(to_small_float(from_small_float(bits, layout), layout), bits);
            ASSERT_EQ(to_small_float(from_small_float(bits | sign, layout), layout), bits | sign);
        }
    }
}

TEST(SmallFloat, RoundsBetweenTwoPatternsToTheNearestAndTiesToTheEven) {
    for (const FloatLayout layout : {tf32_layout, fp8_e4m3_layout, fp8_e5m2_layout}) {
        for (std::uint32_t bits = 0; bits + 1 < first_not_finite(layout); bits += 1) {
            const double low = field_value(bits, layout), high = field_value(bits + 1, layout);
            const double middle = (low + high) / 2;
            const double less = std::nextafter(middle, 0.0), more = std::nextafter(middle, high);
            const auto pattern = [&](double d) { return to_small_float(round_to_odd(d), layout); };
            ASSERT_EQ(pattern(less), bits);
            ASSERT_EQ(pattern(more), bits + 1);
            ASSERT_EQ(pattern(middle), bits + (bits & 1u));
        }
    }
}

TEST(SmallFloat, OverflowsToInfinityAndWithoutOneToNaN) {
    const auto of = [](float f, FloatLayout layout) {
        return from_small_float(to_small_float(f, layout), layout);
    };
    constexpr float infinite = std::numeric_limits<float>::infinity();
    EXPECT_EQ(of(464.0f, fp8_e4m3_layout), 448.0f);  // a tie; 448 has the even pattern
    EXPECT_TRUE(std::isnan(of(std::nextafter(464.0f, 500.0f), fp8_e4m3_layout)));
    EXPECT_TRUE(std::isnan(of(-infinite, fp8_e4m3_layout)));
    EXPECT_EQ(of(std::nextafter(61440.0f, 0.0f), fp8_e5m2_layout), 57344.0f);
    EXPECT_EQ(of(-61440.0f, fp8_e5m2_layout), -infinite);
    EXPECT_EQ(of(0x1.ffdffep127f, tf32_layout), 0x1.ffcp127f);
    EXPECT_EQ(of(0x1.ffep127f, tf32_layout), infinite);
    for (const FloatLayout layout : {tf32_layout, fp8_e4m3_layout, fp8_e5m2_layout})
        EXPECT_TRUE(std::isnan(of(std::numeric_limits<float>::quiet_NaN(), layout)));
}

TEST(SmallFloat, AgreesWithTheConversionsOf16Bits) {
    std::mt19937 random(1);
    for (int i = 0; i < 2'000'000; ++i) {
        const float f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (std::isnan(f)) continue;
        ASSERT_EQ(to_small_float(f, half_layout), to_half(f).bits) << f;
        ASSERT_EQ(to_small_float(f, bfloat16_layout), to_bfloat16(f).bits) << f;
    }
}

}  // namespace
}  // namespace kernels
