#pragma once

#include <cmath>

#include "cuda/batch_norm_tiles.cuh"
#include "cuda/rows.cuh"
#include "cuda/workspace.h"
#include "kernels/layer_norm.h"

/// Shared parts of a layer norm and that of a residual sum.
namespace kernels::cuda {

/// Arrays of the rows and of the columns; null as in the contract.
template <typename W>
struct LayerNormSides {
    W* mean;
    W* rstd;
    const W* weight;
    const W* bias;
    std::int64_t rows, cols;
    W eps;
};

template <typename W>
LayerNormSides<W> sides_of(const void* mean, const void* rstd, ConstArray weight, const void* bias,
                           const LayerNormShape& shape) {
    const auto memory = [](const void* data) { return static_cast<W*>(const_cast<void*>(data)); };
    return {shape.rms ? nullptr : memory(mean), memory(rstd), static_cast<const W*>(weight.data),
            static_cast<const W*>(bias),        shape.rows,   shape.cols,
            static_cast<W>(shape.eps)};
}

/// Sums of x - middle and of its square over the row, for every thread of the team; in packs of 16
/// bytes if `packed`.
template <int team, typename T>
__device__ __forceinline__ void row_moments(Compute<T>& sum, Compute<T>& squares, const T* x,
                                            Compute<T> middle, std::int64_t cols, bool packed,
                                            int thread) {
    using W = Compute<T>;
    constexpr int width = pack_width<T>;
    W own = 0, own_squares = 0;
    for_each_part<team, width>(cols, packed, thread, [&](std::int64_t at, auto wide) {
        const auto values = load_pack<wide()>(x + at);
        W part = 0, part_squares = 0;
#pragma unroll
        for (int k = 0; k < wide(); ++k) {
            const W apart = widen(values.at[k]) - middle;
            part += apart;
            part_squares = multiply_add(apart, apart, part_squares);
        }
        own += part;
        own_squares += part_squares;
    });
    sum = team_reduce<team>(own, Sum{});
    squares = team_reduce<team>(own_squares, Sum{});
}

/// The columns' own factors; 1 where there are none.
template <int width, typename W>
__device__ __forceinline__ Pack<W, width> factors_at(const W* of, std::int64_t c) {
    if (of != nullptr) return load_pack<width>(of + c);
    Pack<W, width> ones;
#pragma unroll
    for (int k = 0; k < width; ++k) ones.at[k] = 1;
    return ones;
}

/// A row's mean and the reciprocal of its deviation, which are written too.
template <typename W>
struct RowStatistics {
    W mean, rstd;
};
template <int team, typename T>
__device__ __forceinline__ RowStatistics<Compute<T>> row_statistics(
    const T* in, const LayerNormSides<Compute<T>>& of, std::int64_t row, bool packed, int thread) {
    using W = Compute<T>;
    const W count = static_cast<W>(of.cols);
    W sum = 0, squares = 0, middle = 0, left = 0;
    if (of.mean != nullptr) {
        row_moments<team>(sum, squares, in, W{0}, of.cols, packed, thread);
        middle = sum / count;
    }
    row_moments<team>(sum, squares, in, middle, of.cols, packed, thread);
    if (of.mean != nullptr) left = sum / count;  // what the first pass left of the mean
    const W var = squares / count - left * left;
    // An infinite mean stays one: what is left of it is inf - inf.
    const W mean = std::isfinite(middle) ? middle + left : middle;
    const W rstd = W{1} / std::sqrt((var < 0 ? W{0} : var) + of.eps);
    if (thread == 0) {
        if (of.mean != nullptr) of.mean[row] = mean;
        of.rstd[row] = rstd;
    }
    return {mean, rstd};
}

/// Sums of dy xhat and of dy over the block's rows, two rows of `parts` a chunk. The last block
/// adds the chunks in f64.
template <typename G, typename T>
static __global__ void weight_sums_kernel(Compute<T>* dweight, Compute<T>* dbias, Compute<T>* parts,
                                          unsigned* finished, const G* dy, const T* x,
                                          LayerNormSides<Compute<T>> of, Tiling tiling) {
    using W = Compute<T>;
    constexpr int batch = 8;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = tile * tiling.columns + tile_column(tiling);
        W sum_g[1] = {}, sum_gx[1] = {};
        if (c < tiling.channels) {
            for_each_batch<batch>(tiling, [&](std::int64_t row, int step, int n) {
                W few_g = 0, few_gx = 0;  // a sum a batch keeps the error of many rows small
                for (int b = 0; b < batch; ++b) {
                    if (b >= n) continue;
                    const std::int64_t r = row + b * step, at = r * tiling.channels + c;
                    const W mean = of.mean != nullptr ? of.mean[r] : W{0};
                    const W g = widen(dy[at]);
                    few_g += g;
                    few_gx = multiply_add(g, (widen(x[at]) - mean) * of.rstd[r], few_gx);
                }
                sum_g[0] += few_g;
                sum_gx[0] += few_gx;
            });
        }
        column_sums(sum_g, tiling.columns);
        column_sums(sum_gx, tiling.columns);
        put_parts(parts, tiling, c, sum_gx, sum_g);
    }
    if (!is_last_block(finished + blockIdx.y, gridDim.x)) return;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = tile * tiling.columns + tile_column(tiling);
        double sum_g[1] = {}, sum_gx[1] = {};
        using One = Pack<W, 1>;
        for_each_chunk<1>(parts, tiling, c, [&](std::int64_t, const One& gx, const One& g) {
            sum_gx[0] += static_cast<double>(gx.at[0]);
            sum_g[0] += static_cast<double>(g.at[0]);
        });
        column_sums(sum_g, tiling.columns);
        column_sums(sum_gx, tiling.columns);
        if (tile_row(tiling) != 0 || c >= tiling.channels) continue;
        if (dweight != nullptr) dweight[c] = static_cast<W>(sum_gx[0]);
        if (dbias != nullptr) dbias[c] = static_cast<W>(sum_g[0]);
    }
}

/// dweight and dbias, which may be null, by one launch.
template <typename G, typename T>
void start_weight_sums(Array dweight, Array dbias, const G* dy, const T* x,
                       const LayerNormSides<Compute<T>>& of, Stream stream) {
    using W = Compute<T>;
    if (dweight.data == nullptr && dbias.data == nullptr) return;
    const Tiling tiling = make_tiling(of.rows, of.cols, 1);
    const std::int64_t numbers = 2 * tiling.chunks * of.cols;
    auto* parts = static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
    launch("layer_norm_weight_sums", weight_sums_kernel<G, T>, grid_of_sums(tiling), stream,
           static_cast<W*>(dweight.data), static_cast<W*>(dbias.data), parts, finish_counts(stream),
           dy, x, of, tiling);
}

}  // namespace kernels::cuda
