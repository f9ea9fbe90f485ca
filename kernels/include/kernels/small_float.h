#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernels {

/// A binary float of sign, exponent and fraction with subnormals, narrower than f32. Without
/// infinity (OCP's FP8 E4M3) the largest exponent holds numbers too and all ones are NaN.
struct FloatLayout {
    int exponent_bits;  ///< at most 8
    int fraction_bits;  ///< at most 21
    bool infinity;
};
inline constexpr FloatLayout tf32_layout{8, 10, true};
inline constexpr FloatLayout fp8_e4m3_layout{4, 3, false};
inline constexpr FloatLayout fp8_e5m2_layout{5, 2, true};

/// The f32 nearest to d, rounded to odd: its last bit is 1 if d is not an f32. Rounding that to at
/// most 22 significant bits gives the same as rounding d directly.
inline float round_to_odd(double d) {
    const float f = static_cast<float>(d);
    if (static_cast<double>(f) == d || std::isnan(d)) return f;
    auto bits = std::bit_cast<std::uint32_t>(f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(d)) --bits;
    return std::bit_cast<float>(bits | 1u);
}

namespace detail {

/// A magnitude as a multiple of the format's smallest value, rounded to nearest even. For formats
/// whose exponents all exceed f32's smallest.
constexpr std::uint32_t subnormal_count(std::uint32_t magnitude, FloatLayout layout) {
    const int bias = (1 << (layout.exponent_bits - 1)) - 1;
    const int exponent = magnitude < 0x00800000u ? 1 : static_cast<int>(magnitude >> 23);
    const std::uint32_t significand =
        (magnitude & 0x7fffffu) | (magnitude < 0x00800000u ? 0u : 0x800000u);
    const int shift = 151 - bias - layout.fraction_bits - exponent;
    if (shift >= 25) return 0;  // below half of the smallest value, or the tie that goes to 0
    const std::uint32_t odd = (significand >> shift) & 1u;
    return (significand + (1u << (shift - 1)) - 1u + odd) >> shift;
}

}  // namespace detail

/// The bits of f in the layout, rounded to nearest even once, subnormals kept; beyond the largest
/// value infinity or, without one, NaN. A NaN keeps its sign and becomes quiet.
constexpr std::uint32_t to_small_float(float f, FloatLayout layout) {
    const int dropped = 23 - layout.fraction_bits;
    const int width = layout.exponent_bits + layout.fraction_bits;
    const std::uint32_t all_ones = (1u << width) - 1u;
    const std::uint32_t infinity = all_ones >> layout.fraction_bits << layout.fraction_bits;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const std::uint32_t sign = bits >> 31 << width;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t beyond = layout.infinity ? infinity : all_ones;
    if (magnitude > 0x7f800000u)
        return sign | (layout.infinity ? infinity | 1u << (layout.fraction_bits - 1) : all_ones);
    if (magnitude == 0x7f800000u) return sign | beyond;
    // With f32's exponents the encodings differ by the dropped bits alone, subnormals included.
    const auto excess = static_cast<std::uint32_t>(128 - (1 << (layout.exponent_bits - 1)));
    if (excess != 0 && magnitude < (excess + 1) << 23)
        return sign | detail::subnormal_count(magnitude, layout);
    const std::uint32_t odd = (magnitude >> dropped) & 1u;
    const std::uint32_t rounded =
        (magnitude - (excess << 23) + (1u << (dropped - 1)) - 1u + odd) >> dropped;
    return sign | (rounded < beyond ? rounded : beyond);
}

/// The value of such bits; every one of them is an f32.
constexpr float from_small_float(std::uint32_t bits, FloatLayout layout) {
    const int dropped = 23 - layout.fraction_bits;
    const int width = layout.exponent_bits + layout.fraction_bits;
    const std::uint32_t all_ones = (1u << width) - 1u;
    const std::uint32_t infinity = all_ones >> layout.fraction_bits << layout.fraction_bits;
    const std::uint32_t sign = (bits >> width & 1u) << 31;
    const std::uint32_t magnitude = bits & all_ones;
    if (layout.infinity ? magnitude > infinity : magnitude == all_ones)
        return std::bit_cast<float>(sign | 0x7fc00000u);
    if (layout.infinity && magnitude == infinity) return std::bit_cast<float>(sign | 0x7f800000u);
    const auto excess = static_cast<std::uint32_t>(128 - (1 << (layout.exponent_bits - 1)));
    if (excess != 0 && magnitude >> layout.fraction_bits == 0) {
        const std::uint32_t smallest =
            (excess + 1 - static_cast<std::uint32_t>(layout.fraction_bits)) << 23;
        const float value = static_cast<float>(magnitude) * std::bit_cast<float>(smallest);
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
    }
    return std::bit_cast<float>(sign | ((magnitude << dropped) + (excess << 23)));
}

}  // namespace kernels
