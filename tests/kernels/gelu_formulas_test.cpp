#include "shared/gelu_formulas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// The f32 formulas of the CUDA kernels. They give the same results on any device, since each
// operation rounds as IEEE 754 requires.
namespace kernels::test {
namespace {

namespace exact_formulas {

const long double tanh_root = std::sqrt(8 / std::acos(-1.0L));
long double argument(long double x) { return tanh_root * (x + 0.044715L * x * x * x); }
long double gelu(long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }
long double gelu_tanh(long double x) { return x / (1 + std::exp(-argument(x))); }
long double gelu_derivative(long double x) {
    const long double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0L));
    return std::erfc(-x / std::sqrt(2.0L)) / 2 + x * density;
}
long double gelu_tanh_derivative(long double x) {
    const long double up = 1 / (1 + std::exp(-argument(x))), down = 1 / (1 + std::exp(argument(x)));
    return up * (1 + x * down * tanh_root * (1 + 3 * 0.044715L * x * x));
}

}  // namespace exact_formulas

/// Calls f for magnitudes of every order up to 40, of both signs, and for even steps through [-25,
/// 25].
template <typename F>
void for_many(const F& f) {
    for (std::uint32_t bits = 0; bits < std::bit_cast<std::uint32_t>(40.0f); bits += 20011) {
        f(std::bit_cast<float>(bits));
        f(-std::bit_cast<float>(bits));
    }
    for (int i = -100000; i <= 100000; ++i) f(static_cast<float>(i) * 2.5e-4f);
}

/// The error in units in the last place of the exact value.
double units_off(float actual, long double expected) {
    const auto size = static_cast<float>(std::fabs(expected));
    const float unit = std::nextafter(size, std::numeric_limits<float>::infinity()) - size;
    return static_cast<double>(std::fabs(static_cast<long double>(actual) - expected) /
                               static_cast<long double>(unit));
}

TEST(GeluFormulas, AreWithinAUnitAndAHalf) {
    double gelu = 0, gelu_tanh = 0;
    for_many([&](float x) {
        gelu = std::max(gelu, units_off(gelu_formula::gelu(x), exact_formulas::gelu(x)));
        gelu_tanh = std::max(gelu_tanh,
                             units_off(gelu_formula::gelu_tanh(x), exact_formulas::gelu_tanh(x)));
    });
    EXPECT_LE(gelu, 1.5);
    EXPECT_LE(gelu_tanh, 1.5);
    EXPECT_GT(gelu, 0.5) << "or nothing was compared";
}

TEST(GeluFormulas, OfTheDerivativesAreWithinAUnitAndAHalfOfOne) {
    constexpr double slack = 1.5 * 0x1p-24;  // values are below 1.2, most of them below 1
    for_many([&](float x) {
        ASSERT_NEAR(gelu_formula::gelu_derivative(x),
                    static_cast<double>(exact_formulas::gelu_derivative(x)), slack)
            << x;
        ASSERT_NEAR(gelu_formula::gelu_tanh_derivative(x),
                    static_cast<double>(exact_formulas::gelu_tanh_derivative(x)), slack)
            << x;
    });
}

TEST(GeluFormulas, KeepNaNAndTheProductsThatInfinitiesAreIn) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    for (const auto f : {gelu_formula::gelu, gelu_formula::gelu_tanh}) {
        EXPECT_TRUE(std::isnan(f(std::numeric_limits<float>::quiet_NaN())));
        EXPECT_TRUE(std::isnan(f(-infinite)));
        EXPECT_EQ(f(infinite), infinite);
        EXPECT_EQ(f(0), 0);
        EXPECT_EQ(f(1e30f), 1e30f);
        EXPECT_EQ(f(-1e30f), 0);
    }
    for (const auto f : {gelu_formula::gelu_backward, gelu_formula::gelu_tanh_backward}) {
        for (const float x : {std::numeric_limits<float>::quiet_NaN(), infinite, -infinite})
            EXPECT_TRUE(std::isnan(f(1, x))) << x;
        EXPECT_EQ(f(3, 1e30f), 3);
        EXPECT_EQ(f(3, -1e30f), 0);
        EXPECT_EQ(f(3, 0), 1.5f);
    }
}

}  // namespace
}  // namespace kernels::test
