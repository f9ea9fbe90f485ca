#pragma once

#include "cuda/batch_norm_tiles.cuh"
#include "cuda/early_launch.cuh"

/// Sums by channel over chunks of rows, the first half of a batch norm's passes and of what several
/// processes merge. `parts` holds two rows of channels for each chunk.
namespace kernels::cuda {

/// Rows that a thread takes at a time: as many loads are in flight. With several channels each load
/// is of 16 bytes, and more rows would take more registers than they hide latency.
template <int width>
constexpr int sum_batch = width == 1 ? 8 : 4;

/// Moments of values as their distance from the channel's first, so that means far from 0 cost no
/// bits.
template <typename W, int width>
struct Moments {
    W count = 0, mean[width] = {}, squares[width] = {};

    /// n values of each channel, an int or the constant `batch`; the others of `distance` are 0.
    /// Two passes over them, so that nothing cancels. A whole batch is a power of two, whose
    /// reciprocal is exact: the multiplication has the division's bits.
    template <int batch, typename N>
    __device__ __forceinline__ void add(const W (&distance)[batch][width], N n) {
        constexpr bool whole = !std::is_same_v<N, int>;
        const W more = static_cast<W>(static_cast<int>(n)), share = more / (count + more);
#pragma unroll
        for (int k = 0; k < width; ++k) {
            W sum = 0, more_squares = 0;
            for (int b = 0; b < batch; ++b) sum += distance[b][k];
            const W more_mean = whole ? sum * (W{1} / W{batch}) : sum / more;
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
/// has `width` channels, loaded at once: width divides them, and x is aligned for it. The last
/// block joins the chunks in f64, and calls finish(channel, first value, mean's distance from it,
/// squares, rows).
template <typename T, int width, typename Finish>
static __global__ void moments_kernel(Compute<T>* parts, unsigned* finished,
                                      const T* __restrict__ x, Tiling tiling, Finish finish) {
    let_next_kernel_start();
    using W = Compute<T>;
    constexpr int batch = sum_batch<width>;
    static_assert((batch & (batch - 1)) == 0);
    const auto channel_of = [&](std::int64_t tile) {
        return (tile * tiling.columns + tile_column(tiling)) * width;
    };
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = channel_of(tile);
        Moments<W, width> mine;
        if (c < tiling.channels && tiling.chunks > 0) {
            const auto first = load_pack<width>(x + c);
            for_each_batch<batch>(tiling, [&](std::int64_t row, int step, int n) {
                const auto take = [&](auto count) {
                    W distance[batch][width];
#pragma unroll
                    for (int b = 0; b < batch; ++b) {
                        Pack<T, width> values = first;
                        if (b < count)
                            values = load_pack<width>(x + (row + b * step) * tiling.channels + c);
                        for (int k = 0; k < width; ++k)
                            distance[b][k] =
                                b < count ? widen(values.at[k]) - widen(first.at[k]) : W{0};
                    }
                    mine.add(distance, count);
                };
                if (n == batch)
                    take(std::integral_constant<int, batch>{});
                else
                    take(n);
            });
        }
        const W count = static_cast<W>(rows_of_chunk(tiling, blockIdx.x));
        W mean[width], squares[width];
        for (int k = 0; k < width; ++k) mean[k] = mine.count * mine.mean[k];
        column_sums(mean, tiling.columns);
        for (int k = 0; k < width; ++k) {
            mean[k] /= count;
            const W shift = mine.mean[k] - mean[k];
            squares[k] = multiply_add(mine.count * shift, shift, mine.squares[k]);
        }
        column_sums(squares, tiling.columns);
        put_parts(parts, tiling, c, mean, squares);
    }
    if (!is_last_block(finished + blockIdx.y, gridDim.x)) return;
    const auto rows = static_cast<double>(tiling.rows);
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = channel_of(tile);
        using Pair = Pack<W, width>;
        double distance[width] = {}, squares[width] = {};
        for_each_chunk<width>(parts, tiling, c, [&](std::int64_t chunk, const Pair& means, Pair) {
            const auto here = static_cast<double>(rows_of_chunk(tiling, chunk));
            for (int k = 0; k < width; ++k) distance[k] += here * static_cast<double>(means.at[k]);
        });
        column_sums(distance, tiling.columns);
        for (int k = 0; k < width; ++k) distance[k] = tiling.rows > 0 ? distance[k] / rows : 0;
        for_each_chunk<width>(
            parts, tiling, c, [&](std::int64_t chunk, const Pair& means, const Pair& parts_of) {
                const auto here = static_cast<double>(rows_of_chunk(tiling, chunk));
                for (int k = 0; k < width; ++k) {
                    const double d = static_cast<double>(means.at[k]) - distance[k];
                    squares[k] += static_cast<double>(parts_of.at[k]) + here * d * d;
                }
            });
        column_sums(squares, tiling.columns);
        // Each of the column's threads finishes one channel.
        const int own = tile_row(tiling);
        if (own >= width || c >= tiling.channels) continue;
        const double first = tiling.rows > 0 ? static_cast<double>(widen(x[c + own])) : 0;
        finish(c + own, first, pick(distance, own), pick(squares, own), rows);
    }
}

/// How a forward pass made y = relu((x - mean) * factor + shift), with factor = invstd * weight and
/// shift = bias. Null pointers: it did something else.
template <typename W>
struct ForwardFactors {
    const W* invstd;
    const W* weight;
    const W* bias;
};

/// A thread's channels of it.
template <typename W, int width>
struct Normalization {
    W mean[width], factor[width] = {}, shift[width] = {};
};

/// Inputs from which the gradient of the normalised value is made.
template <typename T>
struct BatchNormInputs {
    const T* dy;
    const T* addend;  ///< added to dy and rounded to T; or null
    const T* y;       ///< nothing passes where it is 0; null: without relu, or recomputed
    bool recompute;   ///< y is worked out again from x, which is loaded anyway

    /// g at `at`, where x_pack was loaded from x. Calls seen(d) for each gradient d before the
    /// mask.
    template <int width, typename Seen>
    __device__ __forceinline__ void gradient(Compute<T> (&g)[width], std::int64_t at,
                                             const Pack<T, width>& x_pack,
                                             const Normalization<Compute<T>, width>& forward,
                                             const Seen& seen) const {
        auto above = load_pack<width>(dy + at);
        if (addend != nullptr) {
            const auto more = load_pack<width>(addend + at);
            for (int k = 0; k < width; ++k)
                above.at[k] = narrow<T>(widen(above.at[k]) + widen(more.at[k]));
        }
        for (int k = 0; k < width; ++k) {
            seen(above.at[k]);
            g[k] = widen(above.at[k]);
        }
        if (recompute) {
            for (int k = 0; k < width; ++k) {
                // As normalize_kernel computes and rounds it: a small value may have become 0.
                const auto value = multiply_add(widen(x_pack.at[k]) - forward.mean[k],
                                                forward.factor[k], forward.shift[k]);
                if (widen(narrow<T>(value)) <= 0) g[k] = 0;
            }
        } else if (y != nullptr) {
            const auto passed = load_pack<width>(y + at);
            for (int k = 0; k < width; ++k)
                if (widen(passed.at[k]) <= 0) g[k] = 0;
        }
    }
};

/// The largest magnitude among the values of a block, of f16 alone. Without the sign the bits of
/// floats increase with the value, and NaN is above infinity, so an integer maximum finds the
/// largest and keeps NaN.
template <typename T>
class Magnitudes {
public:
    __device__ __forceinline__ void add(T value) {
        if constexpr (std::is_same_v<T, Half>)
            most_ = Larger{}(most_, __float_as_uint(widen(value)) & 0x7fffffffu);
    }
    /// *largest becomes the larger of both. All threads of the block call. Null: nothing.
    __device__ __forceinline__ void put(unsigned* largest) const {
        if constexpr (std::is_same_v<T, Half>) {
            if (largest == nullptr) return;
            const unsigned most = block_reduce<tile_threads>(most_, Larger{});
            if (threadIdx.x == 0) atomicMax(largest, most);
        }
    }

private:
    struct Larger {
        __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
    };
    unsigned most_ = 0;
};

/// Sums of g and of g * (x - mean) over the block's rows, two rows of `parts` a chunk. A thread has
/// `width` channels, as in moments_kernel. passed: where g is written, or null; `largest` then
/// takes the magnitudes of the unmasked gradients along, since the reader of g does not see them.
/// The last block adds the chunks in f64, and calls finish(channel, sum of g, the other).
template <typename T, int width, typename Finish>
static __global__ void gradient_sums_kernel(Compute<T>* parts, unsigned* finished,
                                            T* __restrict__ passed, unsigned* largest,
                                            const T* __restrict__ dy, const T* __restrict__ addend,
                                            const T* __restrict__ x, const T* __restrict__ y,
                                            const Compute<T>* __restrict__ mean,
                                            ForwardFactors<Compute<T>> forward, Tiling tiling,
                                            Finish finish) {
    using W = Compute<T>;
    constexpr int batch = sum_batch<width>;
    const bool recompute = forward.bias != nullptr;
    const BatchNormInputs<T> in{dy, addend, y, recompute};
    Magnitudes<T> magnitudes;
    const auto channel_of = [&](std::int64_t tile) {
        return (tile * tiling.columns + tile_column(tiling)) * width;
    };
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = channel_of(tile);
        W sum_g[width] = {}, sum_gx[width] = {};
        if (c < tiling.channels) {
            Normalization<W, width> channels;
            load_factors(channels.mean, mean + c);
            if (recompute) {
                // The product of two floats is exact in double, so this has the same bits as the
                // factor that the forward pass computes there.
                W weight[width];
                load_factors(channels.factor, forward.invstd + c);
                load_factors(weight, forward.weight + c);
                for (int k = 0; k < width; ++k) channels.factor[k] *= weight[k];
                load_factors(channels.shift, forward.bias + c);
            }
            for_each_batch<batch>(tiling, [&](std::int64_t row, int step, int n) {
                // A sum a batch keeps the error of many rows small.
                W few_g[width] = {}, few_gx[width] = {};
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    if (b >= n) continue;
                    const std::int64_t at = (row + b * step) * tiling.channels + c;
                    const auto x_pack = load_pack<width>(x + at);
                    W g[width];
                    in.gradient(g, at, x_pack, channels, [&](T above) { magnitudes.add(above); });
                    for (int k = 0; k < width; ++k) {
                        few_g[k] += g[k];
                        few_gx[k] =
                            multiply_add(g[k], widen(x_pack.at[k]) - channels.mean[k], few_gx[k]);
                    }
                    if (passed == nullptr) continue;
                    Pack<T, width> out;
                    for (int k = 0; k < width; ++k) out.at[k] = narrow<T>(g[k]);
                    store_pack(passed + at, out);
                }
                for (int k = 0; k < width; ++k) {
                    sum_g[k] += few_g[k];
                    sum_gx[k] += few_gx[k];
                }
            });
        }
        column_sums(sum_g, tiling.columns);
        column_sums(sum_gx, tiling.columns);
        put_parts(parts, tiling, c, sum_g, sum_gx);
    }
    magnitudes.put(largest);
    if (!is_last_block(finished + blockIdx.y, gridDim.x)) return;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = channel_of(tile);
        using Pair = Pack<W, width>;
        double of_g[width] = {}, of_gx[width] = {};
        for_each_chunk<width>(parts, tiling, c, [&](std::int64_t, const Pair& g, const Pair& gx) {
            for (int k = 0; k < width; ++k) {
                of_g[k] += static_cast<double>(g.at[k]);
                of_gx[k] += static_cast<double>(gx.at[k]);
            }
        });
        column_sums(of_g, tiling.columns);
        column_sums(of_gx, tiling.columns);
        const int own = tile_row(tiling);
        if (own < width && c < tiling.channels) finish(c + own, pick(of_g, own), pick(of_gx, own));
    }
}

}  // namespace kernels::cuda
