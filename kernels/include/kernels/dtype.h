#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kernels {

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, u8, boolean };

constexpr std::size_t size_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
        case DType::i64:
            return 8;
        case DType::f32:
        case DType::i32:
            return 4;
        case DType::f16:
        case DType::bf16:
            return 2;
        case DType::u8:
        case DType::boolean:
            return 1;
    }
    return 0;
}

constexpr bool is_floating(DType dtype) { return dtype <= DType::bf16; }

/// IEEE binary16 and bfloat16 as stored. The conversions here are the scalar reference: round to
/// nearest even, subnormals kept, overflow to infinity. A NaN stays NaN and keeps the leading bits
/// of its payload; conversions to and from binary16 make it quiet, as the processors' instructions
/// do.
struct Half {
    std::uint16_t bits;
};
struct BFloat16 {
    std::uint16_t bits;
};

constexpr float to_float(Half h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
    const std::uint32_t magnitude = h.bits & 0x7fffu;
    if (magnitude >= 0x7c00u)
        return std::bit_cast<float>(sign | (magnitude > 0x7c00u ? 0x7fc00000u : 0x7f800000u) |
                                    ((magnitude & 0x3ffu) << 13));
    if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

constexpr float to_float(BFloat16 b) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16);
}

constexpr Half to_half(float f) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return {static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
    if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // >= 65520
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded count of 2^-24
        const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
        return {static_cast<std::uint16_t>(sign |
                                           (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000u))};
    }
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u;
    return {static_cast<std::uint16_t>(sign | (rounded >> 13))};
}

constexpr BFloat16 to_bfloat16(float f) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
    return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

}  // namespace kernels
