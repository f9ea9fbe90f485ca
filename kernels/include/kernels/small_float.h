#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernels {

/// Bits of a small float that are not numbers.
enum class Special : std::uint8_t {
    ieee,      ///< the largest exponent: infinity with the fraction 0, else NaN
    nan_only,  ///< all ones are NaN, and the largest exponent holds numbers too (OCP's FP8 E4M3)
    none,      ///< every pattern is a number (FP4 E2M1)
    fnuz,      ///< the pattern of −0 is NaN, and there is one 0
};

/// A binary float of sign, exponent and fraction with subnormals, narrower than f32.
struct FloatLayout {
    int exponent_bits;  ///< at most 8
    int fraction_bits;  ///< 1 to 21
    Special special = Special::ieee;
    int other_bias = 0;  ///< 0: 2^(exponent_bits - 1) - 1

    constexpr int bias() const {
        return other_bias != 0 ? other_bias : (1 << (exponent_bits - 1)) - 1;
    }
    /// All bits but the sign.
    constexpr std::uint32_t mask() const { return (1u << (exponent_bits + fraction_bits)) - 1u; }
    /// The bits of the largest finite magnitude.
    constexpr std::uint32_t largest() const {
        if (special == Special::ieee) return (mask() >> fraction_bits << fraction_bits) - 1u;
        return special == Special::nan_only ? mask() - 1u : mask();
    }
};
inline constexpr FloatLayout tf32_layout{8, 10};
inline constexpr FloatLayout fp8_e4m3_layout{4, 3, Special::nan_only};
inline constexpr FloatLayout fp8_e5m2_layout{5, 2};
inline constexpr FloatLayout fp8_e4m3_ieee_layout{4, 3};
inline constexpr FloatLayout fp8_e4m3fnuz_layout{4, 3, Special::fnuz, 8};
inline constexpr FloatLayout fp8_e5m2fnuz_layout{5, 2, Special::fnuz, 16};
inline constexpr FloatLayout fp4_e2m1_layout{2, 1, Special::none};

/// Results of magnitudes that round to more than a format's largest value.
enum class Saturate : std::uint8_t {
    no,      ///< infinity; NaN in a format without it; the largest value in one without both
    finite,  ///< the largest value, for finite numbers; infinity as in `no`
    all,     ///< the largest value, for infinity too
};

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
    const int exponent = magnitude < 0x00800000u ? 1 : static_cast<int>(magnitude >> 23);
    const std::uint32_t significand =
        (magnitude & 0x7fffffu) | (magnitude < 0x00800000u ? 0u : 0x800000u);
    const int shift = 151 - layout.bias() - layout.fraction_bits - exponent;
    if (shift >= 25) return 0;  // below half of the smallest value, or the tie that goes to 0
    const std::uint32_t odd = (significand >> shift) & 1u;
    return (significand + (1u << (shift - 1)) - 1u + odd) >> shift;
}

/// The sign where the format has it for this magnitude.
constexpr std::uint32_t with_sign(std::uint32_t sign, std::uint32_t magnitude, Special special) {
    return special == Special::fnuz && magnitude == 0 ? 0 : sign | magnitude;
}

}  // namespace detail

/// The bits of NaN with this sign bit; in a format without NaN the largest value, positive.
constexpr std::uint32_t small_float_nan(std::uint32_t sign, FloatLayout layout) {
    if (layout.special == Special::ieee)
        return sign | (layout.largest() + 1u) | 1u << (layout.fraction_bits - 1);
    if (layout.special == Special::nan_only) return sign | layout.mask();
    return layout.special == Special::fnuz ? layout.mask() + 1u : layout.largest();
}

/// The bits of f in the layout, rounded to nearest even once, subnormals kept. A NaN keeps its sign
/// (but in fnuz) and becomes quiet.
constexpr std::uint32_t to_small_float(float f, FloatLayout layout,
                                       Saturate saturate = Saturate::no) {
    const int dropped = 23 - layout.fraction_bits;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const std::uint32_t sign = bits >> 31 << (layout.exponent_bits + layout.fraction_bits);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t largest = layout.largest();
    if (magnitude > 0x7f800000u) return small_float_nan(sign, layout);
    // With f32's exponents the encodings differ by the dropped bits alone, subnormals included.
    const auto excess = static_cast<std::uint32_t>(127 - layout.bias());
    if (excess != 0 && magnitude < (excess + 1) << 23)
        return detail::with_sign(sign, detail::subnormal_count(magnitude, layout), layout.special);
    const std::uint32_t odd = (magnitude >> dropped) & 1u;
    const std::uint32_t rounded =
        (magnitude - (excess << 23) + (1u << (dropped - 1)) - 1u + odd) >> dropped;
    if (rounded <= largest && magnitude != 0x7f800000u) return sign | rounded;
    const bool kept =
        magnitude == 0x7f800000u ? saturate == Saturate::all : saturate != Saturate::no;
    if (kept || layout.special == Special::none) return sign | largest;
    return layout.special == Special::ieee ? sign | (largest + 1u) : small_float_nan(sign, layout);
}

/// The value of such bits; every one of them is an f32.
constexpr float from_small_float(std::uint32_t bits, FloatLayout layout) {
    const int dropped = 23 - layout.fraction_bits;
    const std::uint32_t sign = (bits >> (layout.exponent_bits + layout.fraction_bits) & 1u) << 31;
    const std::uint32_t magnitude = bits & layout.mask();
    if (layout.special == Special::ieee && magnitude == layout.largest() + 1u)
        return std::bit_cast<float>(sign | 0x7f800000u);
    if (magnitude > layout.largest() ||
        (layout.special == Special::fnuz && magnitude == 0 && sign != 0))
        return std::bit_cast<float>(sign | 0x7fc00000u);
    const auto excess = static_cast<std::uint32_t>(127 - layout.bias());
    if (excess != 0 && magnitude >> layout.fraction_bits == 0) {
        const std::uint32_t smallest =
            (excess + 1 - static_cast<std::uint32_t>(layout.fraction_bits)) << 23;
        const float value = static_cast<float>(magnitude) * std::bit_cast<float>(smallest);
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
    }
    return std::bit_cast<float>(sign | ((magnitude << dropped) + (excess << 23)));
}

/// The bits of the largest magnitude that is at most |f|. f must not be NaN.
constexpr std::uint32_t truncated_small_float(float f, FloatLayout layout) {
    const float size = std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) & 0x7fffffffu);
    const std::uint32_t nearest = to_small_float(size, layout, Saturate::all);
    return nearest != 0 && from_small_float(nearest, layout) > size ? nearest - 1u : nearest;
}

/// The bits of f rounded at random to one of its two neighbours lo <= |f| < hi, saturating: to hi
/// if random < (|f| - lo) / (hi - lo) * 65536, which f32 computes exactly. So values of the format
/// stay as they are, and the mean is off by at most 2^-16 of hi - lo. `random`: 16 uniform bits.
/// Infinity and NaN as to_small_float(f, layout, Saturate::finite).
constexpr std::uint32_t to_small_float_at_random(float f, FloatLayout layout,
                                                 std::uint16_t random) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    if ((bits & 0x7fffffffu) >= 0x7f800000u) return to_small_float(f, layout, Saturate::finite);
    const std::uint32_t sign = bits >> 31 << (layout.exponent_bits + layout.fraction_bits);
    const std::uint32_t low = truncated_small_float(f, layout);
    if (low == layout.largest()) return sign | low;
    const float size = std::bit_cast<float>(bits & 0x7fffffffu);
    const float below = from_small_float(low, layout);
    const float step = from_small_float(low + 1u, layout) - below;
    const bool up = static_cast<float>(random) < (size - below) / step * 65536.0f;
    return detail::with_sign(sign, low + (up ? 1u : 0u), layout.special);
}

/// Ways to round a scale to a power of two.
enum class PowerRounding : std::uint8_t { down, up, nearest };

/// OCP's E8M0: code e is 2^(e-127), 0xff is NaN; it has neither a sign nor a 0. From a magnitude,
/// rounded down, up, or to nearest with ties up. 0 and everything below 2^-127 give 0; beyond
/// 2^127 the result is 0xfe, to nearest from 1.5 * 2^127 on NaN unless `saturate`. Infinity is NaN
/// unless `saturate`; a negative number and NaN are NaN.
constexpr std::uint32_t to_e8m0(float f, PowerRounding rounding, bool saturate = true) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    if (bits > 0x7f800000u && bits != 0x80000000u) return 0xffu;
    if (bits == 0x7f800000u) return saturate ? 0xfeu : 0xffu;
    const std::uint32_t exponent = bits >> 23 & 0xffu, fraction = bits & 0x7fffffu;
    // Below 2^-126 the codes 0 and 1 stand for 0x400000 and 0x800000 of f32's smallest values.
    const std::uint32_t half = exponent == 0 ? 0x600000u : 0x400000u;
    const std::uint32_t above = exponent == 0 ? 0x400000u : 0u;
    const bool up = (rounding == PowerRounding::up && fraction > above) ||
                    (rounding == PowerRounding::nearest && fraction >= half);
    const std::uint32_t code = exponent + (up ? 1u : 0u);
    return code == 0xffu && (saturate || rounding == PowerRounding::up) ? 0xfeu : code;
}

/// The value of such a code.
constexpr float from_e8m0(std::uint32_t code) {
    if (code == 0xffu) return std::bit_cast<float>(0x7fc00000u);
    return std::bit_cast<float>(code == 0 ? 0x00400000u : code << 23);
}

}  // namespace kernels
