#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/names.h"
#include "engine/number/number_format.h"

namespace engine {

/// Formats whose numbers share a scale.
enum class BlockKind : std::uint8_t {
    mxfp8,    ///< 32 FP8 E4M3 with an E8M0 scale
    mxfp4,    ///< 32 FP4 E2M1 with an E8M0 scale
    nvfp4,    ///< 16 FP4 E2M1 with a UE4M3 scale, and an FP32 scale of all blocks
    fp8_128,  ///< 128 FP8 E4M3 with a power of two in FP32
};
template <>
inline constexpr std::array enum_names<BlockKind> = {"mxfp8", "mxfp4", "nvfp4", "fp8-128"};

/// Rules for the scale of an MX block.
enum class MxScale : std::uint8_t {
    rceil,  ///< largest magnitude / largest value, rounded up
    floor,  ///< largest magnitude rounded down; the largest numbers may saturate
    ceil,   ///< largest magnitude rounded up
    even,   ///< largest magnitude rounded to the fraction of the format, then down
};
template <>
inline constexpr std::array enum_names<MxScale> = {"rceil", "floor", "ceil", "even"};

struct BlockSettings {
    BlockKind kind = BlockKind::mxfp8;
    MxScale mx_scale = MxScale::rceil;
    /// Largest magnitude: for nvfp4 of the whole tensor, else of each block. 0: that of the
    /// numbers.
    double amax = 0;
};

/// A number of a block.
struct BlockElement {
    double number = 0;  ///< as it was given
    std::uint32_t bits = 0;
    double value = 0;  ///< of the bits, with the scale taken out again
    double error = 0;  ///< value − number; NaN where either is not finite
    bool zeroed = false;
    bool saturated = false;  ///< finite, and beyond the format's largest value once scaled
};

struct NumberBlock {
    double amax = 0;               ///< largest magnitude among its finite numbers
    std::uint32_t scale_bits = 0;  ///< of block_scale_format()
    double scale = 0;              ///< value of these bits
    double factor = 0;             ///< what numbers are multiplied by before they are rounded
    std::vector<BlockElement> elements{};
};

struct NumberBlocks {
    double amax = 0;   ///< of all finite numbers, or BlockSettings::amax
    double scale = 1;  ///< of all blocks (nvfp4)
    std::vector<NumberBlock> blocks{};
};

const NumberFormat& block_format(BlockKind kind);
const NumberFormat& block_scale_format(BlockKind kind);
std::size_t block_size(BlockKind kind);

/// Cuts the numbers into blocks, the last one shorter, and rounds each with its scale, in FP32 as
/// training does it: to nearest, saturating. A block with a number that is not finite has the scale
/// NaN, and so have all its values. Throws Error(value) for an amax that is negative or not finite.
NumberBlocks quantize_blocks(std::span<const double> numbers, const BlockSettings& settings);

/// The E8M0 codes of a magnitude as a scale, by the rules of MX blocks: to a power of two down, up,
/// and to the nearest, ties up.
struct ScaleCodes {
    std::uint32_t floor, rceil, even;
};
ScaleCodes scale_codes(double magnitude);

}  // namespace engine
