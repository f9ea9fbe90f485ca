#include "engine/number/number_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/dtype.h"
#include "kernels/small_float.h"

namespace engine {
namespace {

using kernels::round_to_odd;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<const NumberFormat*, 6> formats = {
    &fp32_format, &tf32_format, &fp16_format, &bf16_format, &fp8_e4m3_format, &fp8_e5m2_format};

std::uint32_t mask(const NumberFormat& format) {
    return (1u << (format.width() - 1)) - 1u;  // all but the sign
}
std::uint32_t magnitude_of(const NumberFormat& format, std::uint32_t bits) {
    return bits & mask(format);
}
bool is_negative(const NumberFormat& format, std::uint32_t bits) {
    return (bits >> (format.width() - 1) & 1u) != 0;
}

/// The bits of infinity or, without one, of the largest value.
std::uint32_t last_magnitude(const NumberFormat& format) {
    const std::uint32_t all = mask(format);
    return format.infinity ? all >> format.fraction_bits << format.fraction_bits : all - 1;
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
                                   .infinity = true};
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
                                   .infinity = true};
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
                                   .infinity = true};
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
                                   .infinity = true};
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
                                       .infinity = false};
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
                                       .infinity = true};

std::span<const NumberFormat* const> number_formats() { return formats; }

const NumberFormat* find_number_format(std::string_view name) {
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const NumberFormat* each) { return each->name == name; });
    return found == formats.end() ? nullptr : *found;
}

std::uint32_t to_bits(const NumberFormat& format, double value) {
    switch (format.kind) {
        case FormatKind::fp32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        case FormatKind::tf32:
            return kernels::to_small_float(round_to_odd(value), kernels::tf32_layout);
        case FormatKind::fp16:
            return kernels::to_half(round_to_odd(value)).bits;
        case FormatKind::bf16:
            return kernels::to_bfloat16(round_to_odd(value)).bits;
        case FormatKind::fp8_e4m3:
            return kernels::to_small_float(round_to_odd(value), kernels::fp8_e4m3_layout);
        case FormatKind::fp8_e5m2:
            break;
    }
    return kernels::to_small_float(round_to_odd(value), kernels::fp8_e5m2_layout);
}

double from_bits(const NumberFormat& format, std::uint32_t bits) {
    const auto value = [&] {
        switch (format.kind) {
            case FormatKind::fp32:
                return std::bit_cast<float>(bits);
            case FormatKind::tf32:
                return kernels::from_small_float(bits, kernels::tf32_layout);
            case FormatKind::fp16:
                return to_float(kernels::Half{static_cast<std::uint16_t>(bits)});
            case FormatKind::bf16:
                return to_float(kernels::BFloat16{static_cast<std::uint16_t>(bits)});
            case FormatKind::fp8_e4m3:
                return kernels::from_small_float(bits, kernels::fp8_e4m3_layout);
            case FormatKind::fp8_e5m2:
                break;
        }
        return kernels::from_small_float(bits, kernels::fp8_e5m2_layout);
    };
    return static_cast<double>(value());
}

double rounded(const NumberFormat& format, double value) {
    return from_bits(format, to_bits(format, value));
}

NumberClass classify(const NumberFormat& format, std::uint32_t bits) {
    const std::uint32_t magnitude = magnitude_of(format, bits);
    if (magnitude == 0) return NumberClass::zero;
    const std::uint32_t last = last_magnitude(format);
    if (magnitude > last) return NumberClass::nan;
    if (format.infinity && magnitude == last) return NumberClass::infinite;
    return magnitude >> format.fraction_bits == 0 ? NumberClass::subnormal : NumberClass::normal;
}

std::optional<std::uint32_t> next_above(const NumberFormat& format, std::uint32_t bits) {
    const std::uint32_t magnitude = magnitude_of(format, bits);
    const std::uint32_t last = last_magnitude(format);
    if (magnitude > last) return std::nullopt;
    if (is_negative(format, bits) && magnitude != 0)
        return magnitude == 1 ? 0 : (bits & ~mask(format)) | (magnitude - 1);
    if (magnitude == last) return std::nullopt;
    return magnitude + 1;
}

std::optional<std::uint32_t> next_below(const NumberFormat& format, std::uint32_t bits) {
    const std::uint32_t sign = 1u << (format.width() - 1);
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
