#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/grain.h"
#include "kernels/parallel.h"
#include "kernels/quantized_matrix.h"

namespace kernels::cpu {

void add_scaled_sums(float* sums, const float* part, std::int64_t rows, std::int64_t cols,
                     const float* row_factors, const float* col_factors) {
    parallel_for(rows, row_grain(cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            for (std::int64_t col = 0; col < cols; ++col)
                sums[row * cols + col] +=
                    part[row * cols + col] * row_factors[row] * col_factors[col];
    });
}

void multiply_in_few_bits(float* sums, const float* a, const float* b, std::int64_t rows,
                          std::int64_t terms, std::int64_t cols, FewBitSums how) {
    const std::uint32_t kept = ~0u << (24 - how.bits);
    parallel_for(rows, row_grain(terms * cols), [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> row_part(static_cast<std::size_t>(cols));
        float* const part = row_part.data();
        for (std::int64_t row = begin; row < end; ++row) {
            float* const out = sums + row * cols;
            std::fill_n(out, cols, 0.0f);
            std::fill_n(part, cols, 0.0f);
            for (std::int64_t term = 0; term < terms; ++term) {
                const float left = a[row * terms + term];
                const float* const right = b + term * cols;
                for (std::int64_t col = 0; col < cols; ++col) {
                    const float sum = part[col] + left * right[col];
                    part[col] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) & kept);
                }
                if ((term + 1) % how.promote_every != 0 && term + 1 != terms) continue;
                for (std::int64_t col = 0; col < cols; ++col) {
                    out[col] += part[col];
                    part[col] = 0;
                }
            }
        }
    });
}

void pack_codes(std::uint8_t* packed, const std::uint8_t* codes, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 2) {
        const int high = i + 1 < count ? codes[i + 1] << 4 : 0;
        packed[i / 2] = static_cast<std::uint8_t>(codes[i] | high);
    }
}

void unpack_codes(std::uint8_t* codes, const std::uint8_t* packed, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        codes[i] = static_cast<std::uint8_t>(i % 2 == 0 ? packed[i / 2] & 15 : packed[i / 2] >> 4);
}

namespace {

/// f(place in the matrix, place in the tiles).
template <class F>
void for_each_scale(std::int64_t rows, std::int64_t cols, const F& f) {
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < cols; ++col)
            f(row * cols + col, tiled_scale_place(row, col, cols));
}

}  // namespace

void tile_scales(std::uint8_t* tiled, const std::uint8_t* scales, std::int64_t rows,
                 std::int64_t cols) {
    std::fill_n(tiled, tiled_scales_size(rows, cols), std::uint8_t{0});
    for_each_scale(rows, cols,
                   [&](std::int64_t from, std::int64_t to) { tiled[to] = scales[from]; });
}

void untile_scales(std::uint8_t* scales, const std::uint8_t* tiled, std::int64_t rows,
                   std::int64_t cols) {
    for_each_scale(rows, cols,
                   [&](std::int64_t to, std::int64_t from) { scales[to] = tiled[from]; });
}

}  // namespace kernels::cpu
