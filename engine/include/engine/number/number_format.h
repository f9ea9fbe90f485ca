#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/names.h"

namespace engine {

enum class FormatKind : std::uint8_t { fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2 };

/// A number format and its limits. All magnitudes are of the exact value, before it is rounded to
/// the format (to nearest, ties to even).
struct NumberFormat {
    std::string_view name;      ///< "fp16"
    std::string_view title;     ///< "FP16"
    double largest;             ///< largest finite value
    double overflow;            ///< from here on a value is no longer finite
    double smallest_normal;     ///< below it the format has fewer digits
    double smallest;            ///< smallest value that is not 0
    int last_flushed_exponent;  ///< 2^this and all below round to 0
    FormatKind kind;
    int exponent_bits;
    int fraction_bits;
    bool infinity;  ///< without one, what overflows becomes NaN

    /// Bits of sign, exponent and fraction together.
    constexpr int width() const { return 1 + exponent_bits + fraction_bits; }
};

/// FP32, TF32, FP16, BF16, FP8 E4M3 (OCP's, without infinity) and FP8 E5M2.
extern const NumberFormat fp32_format, tf32_format, fp16_format, bf16_format, fp8_e4m3_format,
    fp8_e5m2_format;
/// All formats, widest first.
std::span<const NumberFormat* const> number_formats();
/// Finds a format by name; null if there is none.
const NumberFormat* find_number_format(std::string_view name);

/// Kinds of number that the bits of a format stand for.
enum class NumberClass : std::uint8_t { zero, subnormal, normal, infinite, nan };
template <>
inline constexpr std::array enum_names<NumberClass> = {
    "zero", "subnormal", "normal", "infinite", "nan"};

/// Bits of the value rounded to the format once, by the conversions that the engine's tensors use:
/// to nearest, ties to even, subnormals kept. Beyond the largest value infinity, and NaN in
/// FP8 E4M3. TF32 has 19 bits here, as a tensor core reads them.
std::uint32_t to_bits(const NumberFormat& format, double value);
/// The exact value of `bits`, of which the lowest width() count.
double from_bits(const NumberFormat& format, std::uint32_t bits);
/// from_bits(to_bits(value)).
double rounded(const NumberFormat& format, double value);
NumberClass classify(const NumberFormat& format, std::uint32_t bits);

/// The next larger and the next smaller value, infinities included; −0 and +0 are one value.
/// Nothing beyond the last one and for NaN.
std::optional<std::uint32_t> next_above(const NumberFormat& format, std::uint32_t bits);
std::optional<std::uint32_t> next_below(const NumberFormat& format, std::uint32_t bits);
/// Distance to the next value of larger magnitude, as if exponents went on; NaN for infinities and
/// NaN.
double gap(const NumberFormat& format, std::uint32_t bits);

}  // namespace engine
