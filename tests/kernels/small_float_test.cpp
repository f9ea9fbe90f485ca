#include "kernels/small_float.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/dtype.h"
#include "kernels/philox.h"

namespace kernels {
namespace {

constexpr FloatLayout half_layout{5, 10};
constexpr FloatLayout bfloat16_layout{8, 7};
constexpr std::array all_layouts{tf32_layout,         half_layout,          fp8_e4m3_layout,
                                 fp8_e5m2_layout,     fp8_e4m3_ieee_layout, fp8_e4m3fnuz_layout,
                                 fp8_e5m2fnuz_layout, fp4_e2m1_layout};
constexpr float f32_infinity = std::numeric_limits<float>::infinity();
constexpr float f32_nan = std::numeric_limits<float>::quiet_NaN();

/// The value of every finite pattern, computed from its fields.
double field_value(std::uint32_t magnitude, FloatLayout layout) {
    const int ieee = (1 << (layout.exponent_bits - 1)) - 1;
    const int bias = layout.special == Special::fnuz ? ieee + 1 : ieee;
    const auto exponent = static_cast<int>(magnitude >> layout.fraction_bits);
    const auto fraction = static_cast<double>(magnitude & ((1u << layout.fraction_bits) - 1u));
    const double one = std::ldexp(1.0, layout.fraction_bits);
    return std::ldexp(exponent == 0 ? fraction : fraction + one,
                      std::max(exponent, 1) - bias - layout.fraction_bits);
}

std::uint32_t first_not_finite(FloatLayout layout) {
    const std::uint32_t all = (1u << (layout.exponent_bits + layout.fraction_bits)) - 1u;
    if (layout.special == Special::ieee) return all >> layout.fraction_bits << layout.fraction_bits;
    return layout.special == Special::nan_only ? all : all + 1;
}

TEST(SmallFloat, ReadsEveryPatternByItsFields) {
    for (const FloatLayout layout : all_layouts) {
        const std::uint32_t sign = 1u << (layout.exponent_bits + layout.fraction_bits);
        for (std::uint32_t bits = 0; bits < first_not_finite(layout); ++bits) {
            ASSERT_EQ(static_cast<double>(from_small_float(bits, layout)),
                      field_value(bits, layout));
            ASSERT_EQ(to_small_float(from_small_float(bits, layout), layout), bits);
            if (bits == 0 && layout.special == Special::fnuz) continue;  // that pattern is NaN
            ASSERT_EQ(from_small_float(bits | sign, layout), -from_small_float(bits, layout));
            ASSERT_EQ(to_small_float(from_small_float(bits | sign, layout), layout), bits | sign);
        }
    }
}

TEST(SmallFloat, RoundsBetweenTwoPatternsToTheNearestAndTiesToTheEven) {
    for (const FloatLayout layout : all_layouts) {
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
    EXPECT_EQ(of(464.0f, fp8_e4m3_layout), 448.0f);  // a tie; 448 has the even pattern
    EXPECT_TRUE(std::isnan(of(std::nextafter(464.0f, 500.0f), fp8_e4m3_layout)));
    EXPECT_TRUE(std::isnan(of(-f32_infinity, fp8_e4m3_layout)));
    EXPECT_EQ(of(std::nextafter(61440.0f, 0.0f), fp8_e5m2_layout), 57344.0f);
    EXPECT_EQ(of(-61440.0f, fp8_e5m2_layout), -f32_infinity);
    EXPECT_EQ(of(0x1.ffdffep127f, tf32_layout), 0x1.ffcp127f);
    EXPECT_EQ(of(0x1.ffep127f, tf32_layout), f32_infinity);
    for (const FloatLayout layout : {tf32_layout, fp8_e4m3_layout, fp8_e5m2_layout})
        EXPECT_TRUE(std::isnan(of(f32_nan, layout)));
}

TEST(SmallFloat, SaturatesFiniteNumbersAndOnRequestInfinity) {
    struct Case {
        FloatLayout layout;
        std::uint32_t largest, beyond, nan, negative_nan;
    };
    for (const auto& [layout, largest, beyond, nan, negative_nan] :
         {Case{fp8_e4m3_layout, 0x7e, 0x7f, 0x7f, 0xff},
          Case{fp8_e5m2_layout, 0x7b, 0x7c, 0x7e, 0xfe},
          Case{fp8_e4m3_ieee_layout, 0x77, 0x78, 0x7c, 0xfc},
          Case{fp8_e4m3fnuz_layout, 0x7f, 0x80, 0x80, 0x80},
          Case{fp8_e5m2fnuz_layout, 0x7f, 0x80, 0x80, 0x80}, Case{fp4_e2m1_layout, 7, 7, 7, 7}}) {
        EXPECT_EQ(layout.largest(), largest);
        const std::uint32_t sign = layout.mask() + 1;
        for (const Saturate saturate : {Saturate::no, Saturate::finite, Saturate::all}) {
            const auto cast = [&](float f) { return to_small_float(f, layout, saturate); };
            EXPECT_EQ(cast(1e30f), saturate == Saturate::no ? beyond : largest);
            EXPECT_EQ(cast(-1e30f), (saturate == Saturate::no ? beyond : largest) | sign);
            EXPECT_EQ(cast(f32_infinity), saturate == Saturate::all ? largest : beyond);
            EXPECT_EQ(cast(f32_nan), nan);
            EXPECT_EQ(cast(-f32_nan), negative_nan);
        }
    }
}

TEST(SmallFloat, HoldsNoNegativeZeroInFnuz) {
    EXPECT_EQ(to_small_float(-0.0f, fp8_e4m3fnuz_layout), 0u);
    EXPECT_EQ(to_small_float(-0x1p-30f, fp8_e5m2fnuz_layout), 0u);
    EXPECT_EQ(to_small_float_at_random(-0x1p-30f, fp8_e5m2fnuz_layout, 0xffff), 0u);
    EXPECT_EQ(to_small_float(-0.0f, fp4_e2m1_layout), 8u);
}

// Products of decoded numbers stand in operands of 16 bits.
TEST(SmallFloat, ValuesAndScaledValuesAreExactIn16Bits) {
    const auto is_exact = [](float f) {
        return to_float(to_bfloat16(f)) == f && to_float(to_half(f)) == f;
    };
    for (const FloatLayout layout : {fp8_e4m3_layout, fp8_e5m2_layout, fp4_e2m1_layout})
        for (std::uint32_t bits = 0; bits <= layout.largest(); ++bits)
            EXPECT_TRUE(is_exact(from_small_float(bits, layout)));
    for (std::uint32_t code = 0; code <= fp4_e2m1_layout.largest(); ++code)
        for (std::uint32_t scale = 0; scale <= fp8_e4m3_layout.largest(); ++scale)
            EXPECT_TRUE(is_exact(from_small_float(code, fp4_e2m1_layout) *
                                 from_small_float(scale, fp8_e4m3_layout)));
}

TEST(SmallFloat, RoundsAtRandomToTheNeighboursOnly) {
    for (const FloatLayout layout : all_layouts) {
        if (layout.fraction_bits > 3) continue;  // there the f32 next to a value is not so near
        for (std::uint32_t bits = 0; bits < layout.largest(); ++bits) {
            const float low = from_small_float(bits, layout),
                        high = from_small_float(bits + 1, layout);
            const float near_low = std::nextafter(low, high), near_high = std::nextafter(high, low);
            const auto at = [&](float f, int random) {
                return to_small_float_at_random(f, layout, static_cast<std::uint16_t>(random));
            };
            for (const int random : {0, 1, 0x7fff, 0x8000, 0xffff}) {
                ASSERT_EQ(at(low, random), bits);
                ASSERT_EQ(at((low + high) / 2, random), bits + (random < 0x8000 ? 1u : 0u));
                ASSERT_EQ(at(near_low, random), bits + (random == 0 ? 1u : 0u));
                ASSERT_EQ(at(near_high, random), bits + 1);
            }
            ASSERT_EQ(at(-high, 0), bits + 1 + layout.mask() + 1);
        }
        EXPECT_EQ(to_small_float_at_random(1e38f, layout, 0), layout.largest());
    }
    EXPECT_TRUE(std::isnan(
        from_small_float(to_small_float_at_random(f32_nan, fp8_e4m3_layout, 0), fp8_e4m3_layout)));
    EXPECT_EQ(to_small_float_at_random(-f32_infinity, fp8_e5m2_layout, 0), 0xfcu);
}

// A share p of n draws has the deviation sqrt(p (1 - p) / n). Of 512 shares one may lie beyond four
// deviations with a probability of 3 %: the seed is one without.
TEST(SmallFloat, RoundsUpAsOftenAsTheFractionSays) {
    constexpr PhiloxStream stream{{56, 0}, 0, 0};
    constexpr int draws = 1 << 16, fractions = 512;
    for (int fraction = 0; fraction < fractions; ++fraction) {
        const float share = static_cast<float>(fraction) / fractions;
        const float value = 2 + share;  // between 2 and 3
        int up = 0;
        for (int block = 0; block < draws / 8; ++block)
            for (const std::uint32_t word :
                 stream.block(static_cast<std::uint64_t>(fraction * draws / 8 + block)))
                for (const std::uint32_t random : {word & 0xffffu, word >> 16})
                    up += to_small_float_at_random(value, fp4_e2m1_layout,
                                                   static_cast<std::uint16_t>(random)) == 5
                              ? 1
                              : 0;
        const double p = static_cast<double>(share);
        EXPECT_NEAR(up, draws * p, 4 * std::sqrt(draws * p * (1 - p))) << fraction;
    }
}

TEST(SmallFloat, E8M0RoundsToPowersOfTwo) {
    using enum PowerRounding;
    EXPECT_EQ(to_e8m0(3.1f, down), 128u);
    EXPECT_EQ(to_e8m0(3.1f, up), 129u);
    EXPECT_EQ(to_e8m0(3.0f, nearest), 129u);
    EXPECT_EQ(to_e8m0(std::nextafter(3.0f, 0.0f), nearest), 128u);
    for (const PowerRounding rounding : {down, up, nearest}) {
        for (std::uint32_t code = 0; code < 0xffu; ++code)
            ASSERT_EQ(to_e8m0(from_e8m0(code), rounding), code);
        EXPECT_EQ(to_e8m0(0, rounding), 0u);
        EXPECT_EQ(to_e8m0(0x1p-149f, rounding), 0u);
        EXPECT_EQ(to_e8m0(0x1.2p-127f, rounding), rounding == up ? 1u : 0u);
        EXPECT_EQ(to_e8m0(0x1.fp127f, rounding), 0xfeu);
        EXPECT_EQ(to_e8m0(f32_infinity, rounding), 0xfeu);
        EXPECT_EQ(to_e8m0(f32_infinity, rounding, false), 0xffu);
        EXPECT_EQ(to_e8m0(f32_nan, rounding), 0xffu);
        EXPECT_EQ(to_e8m0(-1, rounding), 0xffu);
    }
    EXPECT_EQ(to_e8m0(0x1.8p127f, nearest, false), 0xffu);
    EXPECT_TRUE(std::isnan(from_e8m0(0xff)));
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
