#include "engine/number/number_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "kernels/dtype.h"
#include "kernels/philox.h"
#include "kernels/small_float.h"

namespace engine {
namespace {

using kernels::round_to_odd;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<const NumberFormat*, 12> formats = {
    &fp32_format,         &tf32_format,     &fp16_format,          &bf16_format,
    &fp8_e4m3_format,     &fp8_e5m2_format, &fp8_e4m3_ieee_format, &fp8_e4m3fnuz_format,
    &fp8_e5m2fnuz_format, &fp4_e2m1_format, &ue4m3_format,         &e8m0_format};
constexpr std::size_t common_formats = 6;

/// The layout of TF32 and of the formats of 8 and 4 bits but E8M0.
kernels::FloatLayout layout(const NumberFormat& format) {
    switch (format.kind) {
        case FormatKind::tf32:
            return kernels::tf32_layout;
        case FormatKind::fp8_e5m2:
            return kernels::fp8_e5m2_layout;
        case FormatKind::fp8_e4m3_ieee:
            return kernels::fp8_e4m3_ieee_layout;
        case FormatKind::fp8_e4m3fnuz:
            return kernels::fp8_e4m3fnuz_layout;
        case FormatKind::fp8_e5m2fnuz:
            return kernels::fp8_e5m2fnuz_layout;
        case FormatKind::fp4_e2m1:
            return kernels::fp4_e2m1_layout;
        default:
            return kernels::fp8_e4m3_layout;  // with and without its sign
    }
}

std::uint32_t mask(const NumberFormat& format) {
    return (1u << (format.exponent_bits + format.fraction_bits)) - 1u;  // all but the sign
}
std::uint32_t magnitude_of(const NumberFormat& format, std::uint32_t bits) {
    return bits & mask(format);
}
bool is_negative(const NumberFormat& format, std::uint32_t bits) {
    return !format.scale && (bits >> (format.width() - 1) & 1u) != 0;
}

/// The bits of infinity or, without one, of the largest value.
std::uint32_t last_magnitude(const NumberFormat& format) {
    const std::uint32_t all = mask(format);
    switch (format.kind) {
        case FormatKind::fp4_e2m1:
        case FormatKind::fp8_e4m3fnuz:
        case FormatKind::fp8_e5m2fnuz:
            return all;
        default:
            return format.beyond == Beyond::infinity
                       ? all >> format.fraction_bits << format.fraction_bits
                       : all - 1;
    }
}

/// NaN of the formats that have it in place of −0.
bool is_fnuz_nan(const NumberFormat& format, std::uint32_t bits) {
    return (format.kind == FormatKind::fp8_e4m3fnuz || format.kind == FormatKind::fp8_e5m2fnuz) &&
           bits == mask(format) + 1;
}

}  // namespace

constexpr NumberFormat fp32_format{.name = "fp32",
                                   .title = "FP32",
                                   .largest = 0x1.fffffep127,
                                   .overflow = 0x1.ffffffp127,
                                   .smallest_normal = 0x1p-126,
                                   .smallest = 0x1p-149,
                                   .last_flushed_exponent = -150,
                                   .kind = FormatKind::fp32,
                                   .exponent_bits = 8,
                                   .fraction_bits = 23,
                                   .beyond = Beyond::infinity};
constexpr NumberFormat tf32_format{.name = "tf32",
                                   .title = "TF32",
                                   .largest = 0x1.ffcp127,
                                   .overflow = 0x1.ffep127,
                                   .smallest_normal = 0x1p-126,
                                   .smallest = 0x1p-136,
                                   .last_flushed_exponent = -137,
                                   .kind = FormatKind::tf32,
                                   .exponent_bits = 8,
                                   .fraction_bits = 10,
                                   .beyond = Beyond::infinity};
constexpr NumberFormat fp16_format{.name = "fp16",
                                   .title = "FP16",
                                   .largest = 65504,
                                   .overflow = 65520,
                                   .smallest_normal = 0x1p-14,
                                   .smallest = 0x1p-24,
                                   .last_flushed_exponent = -25,
                                   .kind = FormatKind::fp16,
                                   .exponent_bits = 5,
                                   .fraction_bits = 10,
                                   .beyond = Beyond::infinity};
constexpr NumberFormat bf16_format{.name = "bf16",
                                   .title = "BF16",
                                   .largest = 0x1.fep127,
                                   .overflow = 0x1.ffp127,
                                   .smallest_normal = 0x1p-126,
                                   .smallest = 0x1p-133,
                                   .last_flushed_exponent = -134,
                                   .kind = FormatKind::bf16,
                                   .exponent_bits = 8,
                                   .fraction_bits = 7,
                                   .beyond = Beyond::infinity};
// 464 is half way to 480, whose bits mean NaN, and rounds to the even 448.
constexpr NumberFormat fp8_e4m3_format{.name = "fp8-e4m3",
                                       .title = "FP8 E4M3",
                                       .largest = 448,
                                       .overflow = 0x1.d000000000001p8,
                                       .smallest_normal = 0x1p-6,
                                       .smallest = 0x1p-9,
                                       .last_flushed_exponent = -10,
                                       .kind = FormatKind::fp8_e4m3,
                                       .exponent_bits = 4,
                                       .fraction_bits = 3,
                                       .beyond = Beyond::nan};
constexpr NumberFormat fp8_e5m2_format{.name = "fp8-e5m2",
                                       .title = "FP8 E5M2",
                                       .largest = 57344,
                                       .overflow = 61440,
                                       .smallest_normal = 0x1p-14,
                                       .smallest = 0x1p-16,
                                       .last_flushed_exponent = -17,
                                       .kind = FormatKind::fp8_e5m2,
                                       .exponent_bits = 5,
                                       .fraction_bits = 2,
                                       .beyond = Beyond::infinity};

constexpr NumberFormat fp8_e4m3_ieee_format{.name = "fp8-e4m3-ieee",
                                            .title = "FP8 E4M3 IEEE",
                                            .largest = 240,
                                            .overflow = 248,
                                            .smallest_normal = 0x1p-6,
                                            .smallest = 0x1p-9,
                                            .last_flushed_exponent = -10,
                                            .kind = FormatKind::fp8_e4m3_ieee,
                                            .exponent_bits = 4,
                                            .fraction_bits = 3,
                                            .beyond = Beyond::infinity};
constexpr NumberFormat fp8_e4m3fnuz_format{.name = "fp8-e4m3fnuz",
                                           .title = "FP8 E4M3FNUZ",
                                           .largest = 240,
                                           .overflow = 248,
                                           .smallest_normal = 0x1p-7,
                                           .smallest = 0x1p-10,
                                           .last_flushed_exponent = -11,
                                           .kind = FormatKind::fp8_e4m3fnuz,
                                           .exponent_bits = 4,
                                           .fraction_bits = 3,
                                           .beyond = Beyond::nan};
constexpr NumberFormat fp8_e5m2fnuz_format{.name = "fp8-e5m2fnuz",
                                           .title = "FP8 E5M2FNUZ",
                                           .largest = 57344,
                                           .overflow = 61440,
                                           .smallest_normal = 0x1p-15,
                                           .smallest = 0x1p-17,
                                           .last_flushed_exponent = -18,
                                           .kind = FormatKind::fp8_e5m2fnuz,
                                           .exponent_bits = 5,
                                           .fraction_bits = 2,
                                           .beyond = Beyond::nan};
// 7 is half way to 8, and a larger number is 6 as well.
constexpr NumberFormat fp4_e2m1_format{.name = "fp4-e2m1",
                                       .title = "FP4 E2M1",
                                       .largest = 6,
                                       .overflow = 7,
                                       .smallest_normal = 1,
                                       .smallest = 0.5,
                                       .last_flushed_exponent = -2,
                                       .kind = FormatKind::fp4_e2m1,
                                       .exponent_bits = 2,
                                       .fraction_bits = 1,
                                       .beyond = Beyond::largest};
constexpr NumberFormat ue4m3_format{.name = "ue4m3",
                                    .title = "UE4M3",
                                    .largest = 448,
                                    .overflow = 0x1.d000000000001p8,
                                    .smallest_normal = 0x1p-6,
                                    .smallest = 0x1p-9,
                                    .last_flushed_exponent = -10,
                                    .kind = FormatKind::ue4m3,
                                    .exponent_bits = 4,
                                    .fraction_bits = 3,
                                    .beyond = Beyond::nan,
                                    .scale = true};
constexpr NumberFormat e8m0_format{.name = "e8m0",
                                   .title = "E8M0",
                                   .largest = 0x1p127,
                                   .overflow = 0x1.8p127,
                                   .smallest_normal = 0x1p-127,
                                   .smallest = 0x1p-127,
                                   .last_flushed_exponent = -128,
                                   .kind = FormatKind::e8m0,
                                   .exponent_bits = 8,
                                   .fraction_bits = 0,
                                   .beyond = Beyond::nan,
                                   .scale = true};

std::span<const NumberFormat* const> number_formats() { return formats; }

std::span<const NumberFormat* const> common_number_formats() {
    return number_formats().first(common_formats);
}

const NumberFormat* find_number_format(std::string_view name) {
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const NumberFormat* each) { return each->name == name; });
    return found == formats.end() ? nullptr : *found;
}

std::uint32_t to_bits(const NumberFormat& format, double value, bool saturate) {
    if (saturate && std::isfinite(value) && std::fabs(value) >= format.overflow)
        value = std::copysign(format.largest, value);
    switch (format.kind) {
        case FormatKind::fp32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        case FormatKind::fp16:
            return kernels::to_half(round_to_odd(value)).bits;
        case FormatKind::bf16:
            return kernels::to_bfloat16(round_to_odd(value)).bits;
        case FormatKind::e8m0:
            return kernels::to_e8m0(round_to_odd(value), kernels::PowerRounding::nearest, false);
        case FormatKind::ue4m3:
            return value < 0 ? mask(format)
                             : kernels::to_small_float(round_to_odd(value), layout(format)) &
                                   mask(format);
        default:
            return kernels::to_small_float(round_to_odd(value), layout(format));
    }
}

double from_bits(const NumberFormat& format, std::uint32_t bits) {
    switch (format.kind) {
        case FormatKind::fp32:
            return static_cast<double>(std::bit_cast<float>(bits));
        case FormatKind::fp16:
            return static_cast<double>(to_float(kernels::Half{static_cast<std::uint16_t>(bits)}));
        case FormatKind::bf16:
            return static_cast<double>(
                to_float(kernels::BFloat16{static_cast<std::uint16_t>(bits)}));
        case FormatKind::e8m0:
            return static_cast<double>(kernels::from_e8m0(bits & mask(format)));
        default:
            return static_cast<double>(kernels::from_small_float(
                format.scale ? bits & mask(format) : bits, layout(format)));
    }
}

double rounded(const NumberFormat& format, double value) {
    return from_bits(format, to_bits(format, value));
}

RandomRounding round_at_random(const NumberFormat& format, double value, std::int64_t draws) {
    if (format.width() > 8 || format.scale)
        throw Error(ErrorCode::value,
                    msg("Numbers are rounded at random to FP8 and FP4, not to {}.", format.title));
    if (!std::isfinite(value))
        throw Error(ErrorCode::value, msg("Only finite numbers are rounded at random."));
    const kernels::FloatLayout bits = layout(format);
    const float f = round_to_odd(value);
    const auto size = static_cast<double>(
        kernels::from_small_float(kernels::truncated_small_float(f, bits), bits));
    const double low = std::copysign(size, value);
    RandomRounding out{.low = to_bits(format, low),
                       .high = kernels::to_small_float_at_random(f, bits, 0)};
    if (out.low != out.high) {
        out.chance = (value - low) / (from_bits(format, out.high) - low);
    }
    constexpr kernels::PhiloxStream stream{{0, 0}, 0, 0};
    for (std::int64_t i = 0; i < draws; ++i) {
        const std::uint32_t word = stream.at(static_cast<std::uint64_t>(i / 2));
        const auto random = static_cast<std::uint16_t>(i % 2 == 0 ? word : word >> 16);
        const bool high =
            out.low != out.high && kernels::to_small_float_at_random(f, bits, random) == out.high;
        ++(high ? out.highs : out.lows);
    }
    return out;
}

NumberClass classify(const NumberFormat& format, std::uint32_t bits) {
    const std::uint32_t magnitude = magnitude_of(format, bits);
    const std::uint32_t last = last_magnitude(format);
    if (magnitude > last || is_fnuz_nan(format, bits)) return NumberClass::nan;
    if (format.kind == FormatKind::e8m0) return NumberClass::normal;
    if (magnitude == 0) return NumberClass::zero;
    if (format.beyond == Beyond::infinity && magnitude == last) return NumberClass::infinite;
    return magnitude >> format.fraction_bits == 0 ? NumberClass::subnormal : NumberClass::normal;
}

std::optional<std::uint32_t> next_above(const NumberFormat& format, std::uint32_t bits) {
    const std::uint32_t magnitude = magnitude_of(format, bits);
    const std::uint32_t last = last_magnitude(format);
    if (magnitude > last || is_fnuz_nan(format, bits)) return std::nullopt;
    if (is_negative(format, bits) && magnitude != 0)
        return magnitude == 1 ? 0 : (bits & ~mask(format)) | (magnitude - 1);
    if (magnitude == last) return std::nullopt;
    return magnitude + 1;
}

std::optional<std::uint32_t> next_below(const NumberFormat& format, std::uint32_t bits) {
    const std::uint32_t magnitude = magnitude_of(format, bits);
    if (magnitude > last_magnitude(format) || is_fnuz_nan(format, bits)) return std::nullopt;
    if (format.scale) return magnitude == 0 ? std::nullopt : std::optional(magnitude - 1);
    const std::uint32_t sign = mask(format) + 1;
    if (magnitude == 0) return sign | 1u;
    const auto next = next_above(format, bits ^ sign);
    if (!next || *next == 0) return next;
    return *next ^ sign;
}

double gap(const NumberFormat& format, std::uint32_t bits) {
    const NumberClass kind = classify(format, bits);
    if (kind == NumberClass::infinite || kind == NumberClass::nan) return not_a_number;
    if (kind != NumberClass::normal) return format.smallest;
    return std::ldexp(1.0, std::ilogb(from_bits(format, bits)) - format.fraction_bits);
}

}  // namespace engine
