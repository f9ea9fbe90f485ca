#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/philox.h"
#include "kernels/small_float.h"

namespace kernels {

// Matrices of 8- and 4-bit codes, of which a block shares a scale (kernels/quantize.h).

/// A row-major matrix cut into blocks; those at its ends may be smaller.
struct Blocks {
    std::int64_t rows, cols;  ///< of the matrix
    std::int64_t block_rows, block_cols;

    std::int64_t down() const { return (rows + block_rows - 1) / block_rows; }
    std::int64_t across() const { return (cols + block_cols - 1) / block_cols; }
    std::int64_t count() const { return down() * across(); }
};

/// Magnitudes in a block.
struct BlockRange {
    float amax = 0;  ///< the largest of the finite values; 0: there is none
    bool nonfinite = false;
};

/// Scale codes in tiles of 128 rows and 4 columns, 512 bytes each, one tile after another along the
/// columns: rows r, r + 32, r + 64 and r + 96 of a tile lie side by side. Source: cuBLAS's
/// documentation of block scales.
constexpr std::int64_t tiled_scale_place(std::int64_t row, std::int64_t col, std::int64_t cols) {
    const std::int64_t tile = row / 128 * ((cols + 3) / 4) + col / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + col % 4;
}
constexpr std::int64_t tiled_scales_size(std::int64_t rows, std::int64_t cols) {
    return (rows + 127) / 128 * ((cols + 3) / 4) * 512;
}

/// Results of a cast to codes, over all values.
struct CastCounts {
    std::int64_t nonzero = 0;    ///< values other than 0, NaN and infinity among them
    std::int64_t zeroed = 0;     ///< of these, those whose code is 0
    std::int64_t saturated = 0;  ///< finite, and round to more than the largest value
    std::int64_t nonfinite = 0;
};

/// Numbers of rounding at random: element i (`element` + row * cols + column) takes 16 bits of word
/// first + i / 2, the low ones for an even i.
struct RandomRoundingWords {
    PhiloxStream stream;
    std::uint64_t first;
    std::uint64_t element = 0;  ///< of the matrix's first value, in a larger one
};

namespace cpu {

/// Ranges of the blocks, from left to right and from top to bottom. x: f32, f16 or bf16, not
/// transposed.
void block_ranges(BlockRange* ranges, ConstMatrix x, const Blocks& blocks);

/// Codes (rows, cols), a byte each, of x times the factor of its block, in f32: to nearest even,
/// saturating, infinity and NaN as to_small_float(Saturate::finite) has them; with `random` as
/// to_small_float_at_random() rounds.
CastCounts quantize_blocks(std::uint8_t* codes, ConstMatrix x, const Blocks& blocks,
                           const float* factors, FloatLayout layout,
                           const RandomRoundingWords* random = nullptr);

/// y = x with each 16 rows multiplied by D H / 4, H Sylvester's matrix of Hadamard and D 16 fixed
/// signs, in f32 with one rounding to bf16. Rows beyond x's are zeros. y: dense, bf16, with rows
/// rounded up to 16; x: f32, f16 or bf16, not transposed.
void rotate_rows(Matrix y, ConstMatrix x);

/// y = the codes' values times the factor of their block; f32 or bf16, to which the products must
/// be exact.
void decode_blocks(Matrix y, const std::uint8_t* codes, const Blocks& blocks, const float* factors,
                   FloatLayout layout);

/// y = sums * factor + bias in f32, and then one rounding to y's type; with `relu` max(y, 0). sums
/// (rows, cols) dense; bias (cols) of y's type, or null; y dense, f32, f16 or bf16.
void scale_sums(Matrix y, const float* sums, float factor, const void* bias, bool relu);

/// How sums of few bits are formed.
struct FewBitSums {
    int bits;                    ///< of the sum's significand, 1 to 24; what is below is cut off
    std::int64_t promote_every;  ///< products after which the sum is added up in f32
};

/// sums = a b, a (rows, terms), b (terms, cols), all f32 and dense, term by term.
void multiply_in_few_bits(float* sums, const float* a, const float* b, std::int64_t rows,
                          std::int64_t terms, std::int64_t cols, FewBitSums how);

/// Two codes of 4 bits a byte, the even one in the low bits, and back. An odd count leaves the last
/// high bits 0.
void pack_codes(std::uint8_t* packed, const std::uint8_t* codes, std::int64_t count);
void unpack_codes(std::uint8_t* codes, const std::uint8_t* packed, std::int64_t count);

/// The scale codes of an MX or NVFP4 operand, (rows, cols), as Blackwell's products read them
/// (tiled_scale_place()), and back; `tiled` has tiled_scales_size() bytes, of which those beyond
/// the matrix are 0. `rows`: of the operand; `cols`: its blocks along the contraction.
void tile_scales(std::uint8_t* tiled, const std::uint8_t* scales, std::int64_t rows,
                 std::int64_t cols);
void untile_scales(std::uint8_t* scales, const std::uint8_t* tiled, std::int64_t rows,
                   std::int64_t cols);

/// sums(i, j) += part(i, j) * row_factors[i] * col_factors[j], each product rounded; both (rows,
/// cols), dense.
void add_scaled_sums(float* sums, const float* part, std::int64_t rows, std::int64_t cols,
                     const float* row_factors, const float* col_factors);

}  // namespace cpu
}  // namespace kernels
