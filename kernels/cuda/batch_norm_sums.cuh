#pragma once

#include "cuda/batch_norm_tiles.cuh"

/// Sums by channel over chunks of rows, the first half of a batch norm's passes and of what several
/// processes merge. `parts` holds two rows of channels for each chunk.
namespace kernels::cuda {

constexpr int sum_batch = 8;  ///< rows that a thread takes at a time

/// Of values as their distance from the channel's first, so that means far from 0 cost no bits.
template <typename W>
struct Moments {
    W count = 0, mean = 0, squares = 0;

    /// n values, the others of `distance` are 0. Two passes over them, so that nothing cancels.
    __device__ __forceinline__ void add(const W (&distance)[sum_batch], int n) {
        W sum = 0, more_squares = 0;
        for (int b = 0; b < sum_batch; ++b) sum += distance[b];
        const W more = static_cast<W>(n);
        const W more_mean = sum / more;
        for (int b = 0; b < sum_batch; ++b) {
            const W d = distance[b] - more_mean;
            if (b < n) more_squares = multiply_add(d, d, more_squares);
        }
        const W shift = more_mean - mean, share = more / (count + more);
        mean = multiply_add(shift, share, mean);
        squares += more_squares + shift * shift * share * count;
        count += more;
    }
};

/// Mean and sum of squared deviations of the block's rows, two rows of `parts` a chunk.
template <typename T>
static __global__ void moments_kernel(Compute<T>* parts, const T* x, Tiling tiling) {
    using W = Compute<T>;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = tile * tiling.columns + tile_column(tiling);
        Moments<W> mine;
        if (c < tiling.channels) {
            const W first = widen(x[c]);
            for_each_batch<sum_batch>(tiling, [&](std::int64_t row, int step, int n) {
                W distance[sum_batch];
                for (int b = 0; b < sum_batch; ++b)
                    distance[b] =
                        b < n ? widen(x[(row + b * step) * tiling.channels + c]) - first : W{0};
                mine.add(distance, n);
            });
        }
        const W count = column_sum(mine.count, tiling.columns);
        const W mean = column_sum(mine.count * mine.mean, tiling.columns) / count;
        const W shift = mine.mean - mean;
        const W squares =
            column_sum(multiply_add(mine.count * shift, shift, mine.squares), tiling.columns);
        if (tile_row(tiling) != 0 || c >= tiling.channels) continue;
        W* part = parts + 2 * static_cast<std::int64_t>(blockIdx.x) * tiling.channels + c;
        part[0] = mean;
        part[tiling.channels] = squares;
    }
}

/// The gradient that reaches the normalised value: with y, nothing where relu let nothing pass.
template <typename T>
struct BatchNormInputs {
    const T* dy;
    const T* x;
    const T* y;  ///< null without relu

    template <int width>
    __device__ __forceinline__ void gradient(Compute<T> (&g)[width], std::int64_t at) const {
        gradient(g, at, [](T) {});
    }
    /// Calls seen(dy) for each on the way.
    template <int width, typename Seen>
    __device__ __forceinline__ void gradient(Compute<T> (&g)[width], std::int64_t at,
                                             const Seen& seen) const {
        const auto above = load_pack<width>(dy + at);
        for (int k = 0; k < width; ++k) {
            seen(above.at[k]);
            g[k] = widen(above.at[k]);
        }
        if (y == nullptr) return;
        const auto passed = load_pack<width>(y + at);
        for (int k = 0; k < width; ++k)
            if (widen(passed.at[k]) <= 0) g[k] = 0;
    }
};

/// Sums of g and of g * (x - mean) over the block's rows, two rows of `parts` a chunk.
template <typename T>
static __global__ void gradient_sums_kernel(Compute<T>* parts, BatchNormInputs<T> in,
                                            const Compute<T>* mean, Tiling tiling) {
    using W = Compute<T>;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = tile * tiling.columns + tile_column(tiling);
        W sum_g = 0, sum_gx = 0;
        if (c < tiling.channels) {
            const W middle = mean[c];
            for_each_batch<sum_batch>(tiling, [&](std::int64_t row, int step, int n) {
                W few_g = 0, few_gx = 0;  // a sum a batch keeps the error of many rows small
                for (int b = 0; b < sum_batch; ++b) {
                    if (b >= n) continue;
                    const std::int64_t at = (row + b * step) * tiling.channels + c;
                    W g[1];
                    in.gradient(g, at);
                    few_g += g[0];
                    few_gx = multiply_add(g[0], widen(in.x[at]) - middle, few_gx);
                }
                sum_g += few_g;
                sum_gx += few_gx;
            });
        }
        sum_g = column_sum(sum_g, tiling.columns);
        sum_gx = column_sum(sum_gx, tiling.columns);
        if (tile_row(tiling) != 0 || c >= tiling.channels) continue;
        W* part = parts + 2 * static_cast<std::int64_t>(blockIdx.x) * tiling.channels + c;
        part[0] = sum_g;
        part[tiling.channels] = sum_gx;
    }
}

}  // namespace kernels::cuda
