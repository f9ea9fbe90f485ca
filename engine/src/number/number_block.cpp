#include "engine/number/number_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "kernels/quantize.h"

namespace engine {
namespace {

struct BlockType {
    const NumberFormat* format;
    const NumberFormat* scale;
    std::size_t size;
    kernels::FloatLayout layout;
};

const BlockType& type(BlockKind kind) {
    static const std::array<BlockType, 4> types = {
        BlockType{&fp8_e4m3_format, &e8m0_format, 32, kernels::fp8_e4m3_layout},
        BlockType{&fp4_e2m1_format, &e8m0_format, 32, kernels::fp4_e2m1_layout},
        BlockType{&fp4_e2m1_format, &ue4m3_format, 16, kernels::fp4_e2m1_layout},
        BlockType{&fp8_e4m3_format, &fp32_format, 128, kernels::fp8_e4m3_layout}};
    return types[static_cast<std::size_t>(kind)];
}

float finite_amax(std::span<const double> numbers) {
    float most = 0;
    for (const double number : numbers) {
        const float size = std::fabs(static_cast<float>(number));
        if (std::isfinite(size)) most = std::max(most, size);
    }
    return most;
}

/// How a block's numbers become codes, and codes values.
struct BlockScale {
    std::uint32_t bits;
    float factor, inverse;
    bool zeroes = false;  ///< the whole block
};

BlockScale find_scale(float amax, float all, const BlockSettings& settings) {
    const kernels::FloatLayout layout = type(settings.kind).layout;
    switch (settings.kind) {
        case BlockKind::mxfp8:
        case BlockKind::mxfp4: {
            const auto code = kernels::mx_scale_code(
                amax, layout, static_cast<kernels::MxRule>(settings.mx_scale));
            return {code, kernels::mx_scale(code), kernels::from_e8m0(code)};
        }
        case BlockKind::nvfp4: {
            const kernels::Nvfp4Scale scale(all);
            const auto code = scale.block_code(amax);
            const float value = kernels::from_small_float(code, kernels::fp8_e4m3_layout);
            return {code, code == 0 ? 0 : scale.encode(code), value, code == 0};
        }
        case BlockKind::fp8_128:
            break;
    }
    const float scale = kernels::tensor_scale(amax, layout, true);
    return {std::bit_cast<std::uint32_t>(scale), scale, 1 / scale};
}

BlockElement round_element(double number, const BlockScale& scale, float all,
                           const BlockSettings& settings) {
    const BlockType& kind = type(settings.kind);
    const float scaled = static_cast<float>(number) * scale.factor;
    BlockElement out{.number = number,
                     .bits = to_small_float(scaled, kind.layout, kernels::Saturate::finite)};
    float value = from_small_float(out.bits, kind.layout) * scale.inverse;
    if (settings.kind == BlockKind::nvfp4) value *= all / 2688.0f;
    out.value = static_cast<double>(value);
    out.error =
        std::isfinite(number) ? out.value - number : std::numeric_limits<double>::quiet_NaN();
    out.zeroed = number != 0 && value == 0;
    out.saturated = !scale.zeroes && std::isfinite(scaled) &&
                    static_cast<double>(std::fabs(scaled)) >= kind.format->overflow;
    return out;
}

NumberBlock round_block(std::span<const double> numbers, float all, const BlockSettings& settings) {
    const BlockType& kind = type(settings.kind);
    const float amax = finite_amax(numbers);
    const bool own = settings.amax == 0 || settings.kind == BlockKind::nvfp4;
    BlockScale scale = find_scale(own ? amax : all, all, settings);
    const auto finite = [](double number) { return std::isfinite(static_cast<float>(number)); };
    if (!std::ranges::all_of(numbers, finite)) {
        constexpr float none = std::numeric_limits<float>::quiet_NaN();
        scale = {to_bits(*kind.scale, static_cast<double>(none)), none, none};
    }
    NumberBlock out{.amax = static_cast<double>(amax),
                    .scale_bits = scale.bits,
                    .scale = from_bits(*kind.scale, scale.bits),
                    .factor = static_cast<double>(scale.factor)};
    for (const double number : numbers)
        out.elements.push_back(round_element(number, scale, all, settings));
    return out;
}

}  // namespace

const NumberFormat& block_format(BlockKind kind) { return *type(kind).format; }
const NumberFormat& block_scale_format(BlockKind kind) { return *type(kind).scale; }
std::size_t block_size(BlockKind kind) { return type(kind).size; }

NumberBlocks quantize_blocks(std::span<const double> numbers, const BlockSettings& settings) {
    const auto given = static_cast<float>(settings.amax);
    if (!(given >= 0) || !std::isfinite(given))
        throw Error(ErrorCode::value,
                    msg("The largest magnitude is a number from 0 on, not {}.", settings.amax));
    const float all = given != 0 ? given : finite_amax(numbers);
    NumberBlocks out{.amax = static_cast<double>(all)};
    if (settings.kind == BlockKind::nvfp4)
        out.scale = static_cast<double>(kernels::Nvfp4Scale(all).operand);
    while (!numbers.empty()) {
        const std::size_t count = std::min(numbers.size(), block_size(settings.kind));
        out.blocks.push_back(round_block(numbers.first(count), all, settings));
        numbers = numbers.subspan(count);
    }
    return out;
}

ScaleCodes scale_codes(double magnitude) {
    using enum kernels::PowerRounding;
    const float f = kernels::round_to_odd(magnitude);
    return {kernels::to_e8m0(f, down), kernels::to_e8m0(f, up), kernels::to_e8m0(f, nearest)};
}

}  // namespace engine
