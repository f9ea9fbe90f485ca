#pragma once

#include <algorithm>
#include <vector>

#include "cpu/grain.h"
#include "cpu/layer_norm_rows.h"
#include "kernels/layer_norm.h"
#include "kernels/parallel.h"

// How layer norm's backward pass divides its rows, with and without a sum around it.
namespace kernels::cpu {

/// How many rows one task sums: fixed by the shape, so that the result does not depend on threads.
struct LayerNormChunks {
    explicit LayerNormChunks(const LayerNormShape& shape)
        : total(shape.rows),
          rows(std::max(layer_norm_block,
                        row_grain(shape.cols) / layer_norm_block * layer_norm_block)),
          count((shape.rows + rows - 1) / rows) {}
    std::int64_t total, rows, count;
    std::int64_t begin(std::int64_t k) const { return k * rows; }
    std::int64_t end(std::int64_t k) const { return std::min(total, (k + 1) * rows); }
};

template <class W>
LayerNormRows<W> layer_norm_rows_with(void* mean, void* rstd, ConstArray weight, const void* bias,
                                      const LayerNormShape& shape) {
    return {shape.rms ? nullptr : static_cast<W*>(mean),
            static_cast<W*>(rstd),
            static_cast<const W*>(weight.data),
            static_cast<const W*>(bias),
            shape.cols,
            shape.eps};
}

template <class W>
void put_sums(Array to, const double* sums, std::int64_t cols) {
    if (to.data == nullptr) return;
    for (std::int64_t c = 0; c < cols; ++c) static_cast<W*>(to.data)[c] = static_cast<W>(sums[c]);
}

/// Gradients of the parameters from `rows(sums, begin, end)`, which adds up those of rows: dy xhat
/// in sums[0, cols), dy in sums[cols, 2 cols). Called with null if no gradient is asked for. Ranges
/// begin at multiples of layer_norm_block if one is.
template <class W, class Rows>
void sum_layer_norm_gradients(Array dweight, Array dbias, const LayerNormShape& shape,
                              const Rows& rows) {
    if (dweight.data == nullptr && dbias.data == nullptr) {
        parallel_for(shape.rows, row_grain(shape.cols),
                     [&](std::int64_t begin, std::int64_t end) { rows(nullptr, begin, end); });
        return;
    }
    const LayerNormChunks chunks(shape);
    const std::int64_t numbers = 2 * shape.cols;
    std::vector<double> parts(
        static_cast<std::size_t>(std::max<std::int64_t>(chunks.count, 1) * numbers));
    parallel_for(chunks.count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
            rows(parts.data() + k * numbers, chunks.begin(k), chunks.end(k));
    });
    for (std::int64_t k = 1; k < chunks.count; ++k)
        for (std::int64_t i = 0; i < numbers; ++i)
            parts[static_cast<std::size_t>(i)] += parts[static_cast<std::size_t>(k * numbers + i)];
    put_sums<W>(dweight, parts.data(), shape.cols);
    put_sums<W>(dbias, parts.data() + shape.cols, shape.cols);
}

}  // namespace kernels::cpu
