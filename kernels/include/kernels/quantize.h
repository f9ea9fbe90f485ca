#pragma once

#include <cstdint>
#include <limits>

#include "kernels/small_float.h"

namespace kernels {

// Scales of 8- and 4-bit numbers. A value is multiplied by the scale before the cast, its code by
// the inverse afterwards. `amax` is the largest magnitude of the finite values, 0 without any. All
// of it is f32 with IEEE division, so every device gets the same bits.

namespace detail {

constexpr float largest_f32 = std::numeric_limits<float>::max();
constexpr float capped(float f, float most) { return f < most ? f : most; }

/// f rounded down to a power of two.
constexpr float power_of_two_below(float f) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) & 0xff800000u);
}

}  // namespace detail

/// The largest finite value of a format.
constexpr float largest_value(FloatLayout layout) {
    return from_small_float(layout.largest(), layout);
}

/// The scale of a tensor, or of a block of FP8: largest / amax, at most f32's largest value; 1 if
/// amax is 0. With `power_of_two` rounded down to one. Source: Transformer Engine.
constexpr float tensor_scale(float amax, FloatLayout layout, bool power_of_two) {
    if (amax == 0) return 1;
    const float scale = detail::capped(largest_value(layout) / amax, detail::largest_f32);
    return power_of_two ? detail::power_of_two_below(scale) : scale;
}

/// The scale of a row: a power of two, as tensor_scale() with amax at least 1e-12. Source: torchao.
constexpr float row_scale(float amax, FloatLayout layout) {
    return tensor_scale(amax > 1e-12f ? amax : 1e-12f, layout, true);
}

/// Rules for the scale code of an MX block of 32.
enum class MxRule : std::uint8_t {
    rceil,  ///< amax / largest, rounded up: nothing saturates (Transformer Engine)
    floor,  ///< amax rounded down: the largest values may saturate (OCP)
    ceil,   ///< amax rounded up
    even,   ///< amax rounded to the fraction of the format, ties up, and then down
};

/// The E8M0 code of an MX block; the block's elements are codes of x * mx_scale(code).
constexpr std::uint32_t mx_scale_code(float amax, FloatLayout layout, MxRule rule) {
    if (rule == MxRule::rceil)
        return to_e8m0(amax * (1.0f / largest_value(layout)), PowerRounding::up);
    std::uint32_t bits = std::bit_cast<std::uint32_t>(amax);
    if (rule == MxRule::even) bits += 1u << (22 - layout.fraction_bits);
    std::uint32_t exponent = bits >> 23;
    if (rule == MxRule::ceil && (bits & 0x7fffffu) != 0) ++exponent;
    const std::uint32_t most = (std::bit_cast<std::uint32_t>(largest_value(layout)) >> 23) - 127u;
    return exponent < most ? 0 : exponent - most;
}

/// 2^(127 - code); NaN for the code of NaN.
constexpr float mx_scale(std::uint32_t code) {
    return code == 0xffu ? from_e8m0(code) : from_e8m0(0xfeu - code);
}

/// NVFP4 has two levels: a scale of the whole operand, from its amax, and an E4M3 code (without a
/// sign) of each block of 16. Source: Transformer Engine's reference, torchao.
struct Nvfp4Scale {
    float operand = 1;

    constexpr explicit Nvfp4Scale(float operand_amax) {
        if (operand_amax != 0)
            operand = detail::capped(2688.0f / operand_amax, detail::largest_f32);
        if (operand == 0) operand = 1;
    }
    /// The code of a block's scale; 0 where the block is more than about 2^18 below the operand:
    /// all its values then become 0.
    constexpr std::uint32_t block_code(float block_amax) const {
        const float scale = block_amax * (operand * (1.0f / 6.0f));
        return to_small_float(detail::capped(scale, 448.0f), fp8_e4m3_layout);
    }
    /// The factor of a block's elements before the cast. NaN for a code of NaN.
    constexpr float encode(std::uint32_t code) const {
        const float decode = from_small_float(code, fp8_e4m3_layout) * (1.0f / operand);
        const float factor = decode == 0 ? detail::largest_f32 : 1.0f / decode;
        return factor > detail::largest_f32 ? detail::largest_f32 : factor;
    }
};

/// The value of an NVFP4 element.
constexpr float nvfp4_value(std::uint32_t element, std::uint32_t block_code, float operand_amax) {
    return from_small_float(element, fp4_e2m1_layout) *
           from_small_float(block_code, fp8_e4m3_layout) * (operand_amax / 2688.0f);
}

}  // namespace kernels
