#include "kernels/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kernels {
namespace {

/// The nearest value of a binary format with `bits` of significand and exponents from `least` (of
/// the smallest subnormal) to `top`. Ties to even; computed in double.
double nearest(double v, int bits, int least, int top) {
    if (v == 0 || !std::isfinite(v)) return v;
    const double unit = std::ldexp(1.0, std::max(std::ilogb(v) - bits + 1, least));
    const double rounded = std::nearbyint(v / unit) * unit;
    if (std::fabs(rounded) >= std::ldexp(1.0, top + 1))
        return std::copysign(std::numeric_limits<double>::infinity(), v);
    return rounded;
}

double half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31)
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

void expect_half(float f) {
    const double expected = nearest(static_cast<double>(f), 11, -24, 15);
    const double actual = half_value(to_half(f).bits);
    if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(actual)) << f;
    } else {
        ASSERT_EQ(actual, expected) << f;
        ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << f;
    }
}

void expect_bfloat16(float f) {
    const double expected = nearest(static_cast<double>(f), 8, -133, 127);
    const auto actual = static_cast<double>(to_float(to_bfloat16(f)));
    if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(actual)) << f;
    } else {
        ASSERT_EQ(actual, expected) << f;
        ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << f;
    }
}

TEST(Half, IsReadAsTheStandardDefinesIt) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const double expected = half_value(half.bits);
        const auto actual = static_cast<double>(to_float(half));
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(actual)) << bits;
        } else {
            ASSERT_EQ(actual, expected) << bits;
            ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
        }
    }
}

TEST(Half, ComesBackFromFloatUnchanged) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const bool is_nan = (bits & 0x7fffu) > 0x7c00u;
        const std::uint32_t expected = is_nan ? bits | 0x200u : bits;  // quiet, payload kept
        ASSERT_EQ(to_half(to_float(half)).bits, expected);
    }
}

TEST(Half, RoundsToNearestEven) {
    for (std::uint64_t bits = 0; bits < 0x100000000; bits += 4093)
        expect_half(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

TEST(Half, RoundsEveryTieAndItsNeighbours) {
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        const double low = half_value(static_cast<std::uint16_t>(bits));
        const double high =
            bits == 0x7bff ? 65536.0 : half_value(static_cast<std::uint16_t>(bits + 1));
        const auto tie = static_cast<float>((low + high) / 2);
        for (float f : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e30f)}) {
            expect_half(f);
            expect_half(-f);
        }
    }
}

TEST(Half, OverflowsFrom65520AndFlushesUpTo2PowMinus25) {
    EXPECT_EQ(to_half(65519.99f).bits, 0x7bff);
    EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);
    EXPECT_EQ(to_half(-65520.0f).bits, 0xfc00);
    EXPECT_EQ(to_half(0x1p-25f).bits, 0);
    EXPECT_EQ(to_half(std::nextafter(0x1p-25f, 1.0f)).bits, 1);
    EXPECT_EQ(to_half(-0x1p-25f).bits, 0x8000);
}

TEST(BFloat16, ComesBackFromFloatUnchanged) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const bool is_nan = (bits & 0x7fffu) > 0x7f80u;
        const std::uint32_t expected = is_nan ? bits | 0x40u : bits;
        ASSERT_EQ(to_bfloat16(to_float(BFloat16{static_cast<std::uint16_t>(bits)})).bits, expected);
    }
}

TEST(BFloat16, RoundsToNearestEven) {
    for (std::uint64_t bits = 0; bits < 0x100000000; bits += 4093)
        expect_bfloat16(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

TEST(BFloat16, RoundsEveryTieAndItsNeighbours) {
    for (std::uint32_t high = 0; high < 0x10000; ++high) {
        for (std::uint32_t low : {0x7fffu, 0x8000u, 0x8001u})
            expect_bfloat16(std::bit_cast<float>(high << 16 | low));
    }
}

}  // namespace
}  // namespace kernels
