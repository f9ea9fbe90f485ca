#pragma once

#include "cuda/batch_norm_tiles.cuh"

/// Sums by channel over chunks of rows, the first half of a batch norm's passes and of what several
/// processes merge. `parts` holds two rows of channels for each chunk.
namespace kernels::cuda {

/// Rows that a thread takes at a time: as many loads are in flight. With several channels each load
/// is of 16 bytes, and more rows would take more registers than they hide latency.
template <int width>
constexpr int sum_batch = width == 1 ? 8 : 4;

/// Of values as their distance from the channel's first, so that means far from 0 cost no bits.
template <typename W, int width>
struct Moments {
    W count = 0, mean[width] = {}, squares[width] = {};

    /// n values of each channel, the others of `distance` are 0. Two passes over them, so that
    /// nothing cancels.
    template <int batch>
    __device__ __forceinline__ void add(const W (&distance)[batch][width], int n) {
        const W more = static_cast<W>(n), share = more / (count + more);
#pragma unroll
        for (int k = 0; k < width; ++k) {
            W sum = 0, more_squares = 0;
            for (int b = 0; b < batch; ++b) sum += distance[b][k];
            const W more_mean = sum / more;
            for (int b = 0; b < batch; ++b) {
                const W d = distance[b][k] - more_mean;
                if (b < n) more_squares = multiply_add(d, d, more_squares);
            }
            const W shift = more_mean - mean[k];
            mean[k] = multiply_add(shift, share, mean[k]);
            squares[k] += more_squares + shift * shift * share * count;
        }
        count += more;
    }
};

/// Mean and sum of squared deviations of the block's rows, two rows of `parts` a chunk. A thread
/// has `width` channels, loaded at once: width divides them, and x is aligned for it.
template <typename T, int width = 1>
static __global__ void moments_kernel(Compute<T>* __restrict__ parts, const T* __restrict__ x,
                                      Tiling tiling) {
    using W = Compute<T>;
    constexpr int batch = sum_batch<width>;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = (tile * tiling.columns + tile_column(tiling)) * width;
        const bool inside = c < tiling.channels;
        Moments<W, width> mine;
        if (inside) {
            const auto first = load_pack<width>(x + c);
            for_each_batch<batch>(tiling, [&](std::int64_t row, int step, int n) {
                W distance[batch][width];
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    Pack<T, width> values = first;
                    if (b < n)
                        values = load_pack<width>(x + (row + b * step) * tiling.channels + c);
                    for (int k = 0; k < width; ++k)
                        distance[b][k] = b < n ? widen(values.at[k]) - widen(first.at[k]) : W{0};
                }
                mine.add(distance, n);
            });
        }
        const W count = column_sum(mine.count, tiling.columns);
        W* part = parts + 2 * static_cast<std::int64_t>(blockIdx.x) * tiling.channels + c;
        for (int k = 0; k < width; ++k) {
            const W mean = column_sum(mine.count * mine.mean[k], tiling.columns) / count;
            const W shift = mine.mean[k] - mean;
            const W squares = column_sum(multiply_add(mine.count * shift, shift, mine.squares[k]),
                                         tiling.columns);
            if (tile_row(tiling) != 0 || !inside) continue;
            part[k] = mean;
            part[tiling.channels + k] = squares;
        }
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

/// Sums of g and of g * (x - mean) over the block's rows, two rows of `parts` a chunk. A thread has
/// `width` channels, as in moments_kernel.
template <typename T, int width = 1>
static __global__ void gradient_sums_kernel(Compute<T>* __restrict__ parts, BatchNormInputs<T> in,
                                            const Compute<T>* __restrict__ mean, Tiling tiling) {
    using W = Compute<T>;
    constexpr int batch = sum_batch<width>;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = (tile * tiling.columns + tile_column(tiling)) * width;
        const bool inside = c < tiling.channels;
        W sum_g[width] = {}, sum_gx[width] = {};
        if (inside) {
            W middle[width];
            load_factors(middle, mean + c);
            for_each_batch<batch>(tiling, [&](std::int64_t row, int step, int n) {
                // A sum a batch keeps the error of many rows small.
                W few_g[width] = {}, few_gx[width] = {};
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    if (b >= n) continue;
                    const std::int64_t at = (row + b * step) * tiling.channels + c;
                    const auto x = load_pack<width>(in.x + at);
                    W g[width];
                    in.gradient(g, at);
                    for (int k = 0; k < width; ++k) {
                        few_g[k] += g[k];
                        few_gx[k] = multiply_add(g[k], widen(x.at[k]) - middle[k], few_gx[k]);
                    }
                }
                for (int k = 0; k < width; ++k) {
                    sum_g[k] += few_g[k];
                    sum_gx[k] += few_gx[k];
                }
            });
        }
        W* part = parts + 2 * static_cast<std::int64_t>(blockIdx.x) * tiling.channels + c;
        for (int k = 0; k < width; ++k) {
            const W of_g = column_sum(sum_g[k], tiling.columns);
            const W of_gx = column_sum(sum_gx[k], tiling.columns);
            if (tile_row(tiling) != 0 || !inside) continue;
            part[k] = of_g;
            part[tiling.channels + k] = of_gx;
        }
    }
}

}  // namespace kernels::cuda
