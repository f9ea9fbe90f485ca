#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/names.h"

namespace engine {

enum class FormatKind : std::uint8_t {
    fp32,
    tf32,
    fp16,
    bf16,
    fp8_e4m3,
    fp8_e5m2,
    fp8_e4m3_ieee,
    fp8_e4m3fnuz,
    fp8_e5m2fnuz,
    fp4_e2m1,
    ue4m3,
    e8m0,
};

/// Stored in place of a magnitude beyond its largest value.
enum class Beyond : std::uint8_t { infinity, nan, largest };

/// A number format and its limits. All magnitudes are of the exact value, before it is rounded to
/// the format (to nearest, ties to even).
struct NumberFormat {
    std::string_view name;      ///< "fp16"
    std::string_view title;     ///< "FP16"
    double largest;             ///< largest finite value
    double overflow;            ///< from here on a value rounds to more than the largest
    double smallest_normal;     ///< below it the format has fewer digits
    double smallest;            ///< smallest value that is not 0
    int last_flushed_exponent;  ///< 2^this and all below round to 0 (E8M0: to the smallest value)
    FormatKind kind;
    int exponent_bits;
    int fraction_bits;
    Beyond beyond;
    bool scale = false;  ///< a format of scales alone: no number is negative

    /// Bits of sign, exponent and fraction together.
    constexpr int width() const { return (scale ? 0 : 1) + exponent_bits + fraction_bits; }
};

/// FP32, TF32, FP16, BF16, FP8 E4M3 (OCP's, without infinity) and FP8 E5M2.
extern const NumberFormat fp32_format, tf32_format, fp16_format, bf16_format, fp8_e4m3_format,
    fp8_e5m2_format;
/// FP8 E4M3 with infinity, and both FP8 without infinity and −0; FP4 E2M1, every pattern of which
/// is a number; and the scales of blocks: UE4M3 (E4M3 without a sign) and E8M0, powers of two
/// without a 0.
extern const NumberFormat fp8_e4m3_ieee_format, fp8_e4m3fnuz_format, fp8_e5m2fnuz_format,
    fp4_e2m1_format, ue4m3_format, e8m0_format;
/// All formats: FP32 to FP8 E5M2, widest first, and then the others.
std::span<const NumberFormat* const> number_formats();
/// The first six of them, FP32 to FP8 E5M2.
std::span<const NumberFormat* const> common_number_formats();
/// Finds a format by name; null if there is none.
const NumberFormat* find_number_format(std::string_view name);

/// Kinds of number that the bits of a format stand for.
enum class NumberClass : std::uint8_t { zero, subnormal, normal, infinite, nan };
template <>
inline constexpr std::array enum_names<NumberClass> = {"zero", "subnormal", "normal", "infinite",
                                                       "nan"};

/// Bits of the value rounded to the format once, by the conversions that the engine's tensors use:
/// to nearest, ties to even (E8M0: up), subnormals kept. Beyond the largest value what
/// NumberFormat::beyond says, or with `saturate` the largest value, but for infinity itself. TF32
/// has 19 bits here, as a tensor core reads them. A negative number has no bits in a format of
/// scales: NaN. NaN in FP4 E2M1 is its largest value.
std::uint32_t to_bits(const NumberFormat& format, double value, bool saturate = false);
/// The exact value of `bits`, of which the lowest width() count.
double from_bits(const NumberFormat& format, std::uint32_t bits);
/// from_bits(to_bits(value)).
double rounded(const NumberFormat& format, double value);

/// How often rounding at random takes each neighbour of a value.
struct RandomRounding {
    std::uint32_t low = 0, high = 0;   ///< bits, by magnitude; equal for a value of the format
    double chance = 0;                 ///< of `high`
    std::int64_t lows = 0, highs = 0;  ///< of the draws
};
/// Rounds the value at random `draws` times, as gradients are rounded to FP4: up in magnitude with
/// the distance from the lower neighbour as the chance, beyond the largest value to that. Each
/// draw takes 16 bits of a Philox stream. Throws Error(value) for formats wider than 8 bits, for
/// formats of scales and for a value that is not finite.
RandomRounding round_at_random(const NumberFormat& format, double value, std::int64_t draws);

NumberClass classify(const NumberFormat& format, std::uint32_t bits);

/// The next larger and the next smaller value, infinities included; −0 and +0 are one value.
/// Nothing beyond the last one and for NaN.
std::optional<std::uint32_t> next_above(const NumberFormat& format, std::uint32_t bits);
std::optional<std::uint32_t> next_below(const NumberFormat& format, std::uint32_t bits);
/// Distance to the next value of larger magnitude, as if exponents went on; NaN for infinities and
/// NaN.
double gap(const NumberFormat& format, std::uint32_t bits);

}  // namespace engine
