#include "kernels/welford.h"

#include <cassert>

#include "cuda/batch_norm_sums.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"

namespace kernels::cuda {
namespace {

/// Joins the chunks' moments in f64 into mean and biased variance.
template <typename T>
__global__ void welford_join_kernel(Array mean, Array var, const Compute<T>* parts, const T* x,
                                    Tiling chunks) {
    const std::int64_t n = chunks.channels;
    const auto rows = static_cast<double>(chunks.rows);
    for (std::int64_t tile = blockIdx.x; tile < chunks.tiles; tile += gridDim.x) {
        const std::int64_t c = tile * chunks.columns + tile_column(chunks);
        const bool inside = c < n;
        const auto rows_of = [&](std::int64_t k) {
            const std::int64_t left = chunks.rows - k * chunks.chunk_rows;
            return static_cast<double>(left < chunks.chunk_rows ? left : chunks.chunk_rows);
        };
        double sum = 0, squares = 0;
#pragma unroll 4
        for (std::int64_t k = tile_row(chunks); inside && k < chunks.chunks; k += tile_rows(chunks))
            sum += rows_of(k) * static_cast<double>(parts[2 * k * n + c]);
        const double distance = column_sum(sum, chunks.columns) / (rows > 0 ? rows : 1);
#pragma unroll 4
        for (std::int64_t k = tile_row(chunks); inside && k < chunks.chunks;
             k += tile_rows(chunks)) {
            const double d = static_cast<double>(parts[2 * k * n + c]) - distance;
            squares += static_cast<double>(parts[(2 * k + 1) * n + c]) + rows_of(k) * d * d;
        }
        squares = column_sum(squares, chunks.columns);
        if (!inside || tile_row(chunks) != 0) continue;
        const double first = chunks.rows > 0 ? static_cast<double>(widen(x[c])) : 0;
        put_channel(mean, c, first + distance);
        put_channel(var, c, squares / (rows > 0 ? rows : 1));
    }
}

__global__ void welford_merge_kernel(Array mean, Array var, Array unbiased, ConstArray means,
                                     ConstArray vars, const std::int64_t* counts,
                                     std::int64_t parts, std::int64_t channels) {
    for (std::int64_t c = grid_thread(); c < channels; c += grid_threads()) {
        double n = 0, mu = 0, squares = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
            const auto k = static_cast<double>(counts[part]);
            if (counts[part] == 0) continue;
            const double m = channel_or(means, part * channels + c, 0), total = n + k;
            const double delta = mu - m;
            squares += channel_or(vars, part * channels + c, 0) * k + delta * delta * k * n / total;
            mu = (m * k + mu * n) / total;
            n = total;
        }
        put_channel(mean, c, mu);
        put_channel(var, c, squares / n);
        put_channel(unbiased, c, squares / (n - 1));
    }
}

/// Adds the chunks' sums in f64.
template <typename W>
__global__ void welford_sums_kernel(Array sum_dy, Array sum_dy_centred, const W* parts,
                                    Tiling chunks) {
    const std::int64_t n = chunks.channels;
    for (std::int64_t tile = blockIdx.x; tile < chunks.tiles; tile += gridDim.x) {
        const std::int64_t c = tile * chunks.columns + tile_column(chunks);
        const bool inside = c < n;
        double sum = 0, centred = 0;
#pragma unroll 4
        for (std::int64_t k = tile_row(chunks); inside && k < chunks.chunks;
             k += tile_rows(chunks)) {
            sum += static_cast<double>(parts[2 * k * n + c]);
            centred += static_cast<double>(parts[(2 * k + 1) * n + c]);
        }
        sum = column_sum(sum, chunks.columns);
        centred = column_sum(centred, chunks.columns);
        if (!inside || tile_row(chunks) != 0) continue;
        put_channel(sum_dy, c, sum);
        put_channel(sum_dy_centred, c, centred);
    }
}

template <typename W>
W* room_for_parts(const Tiling& tiling, Stream stream) {
    const std::int64_t numbers = 2 * tiling.chunks * tiling.channels;
    return static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
}

}  // namespace

void welford_local(Array mean, Array var, ConstArray x, std::int64_t rows, std::int64_t channels,
                   Stream stream) {
    assert(x.size == rows * channels && mean.size == channels && var.size == channels);
    if (channels == 0) return;
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        const auto* in = static_cast<const T*>(x.data);
        const Tiling tiling = tiling_of(rows, channels, 1);
        auto* parts = room_for_parts<Compute<T>>(tiling, stream);
        launch("welford_moments", moments_kernel<T>, grid_of(tiling), stream, parts, in, tiling);
        const Tiling joined = joining(tiling);
        launch("welford_join", welford_join_kernel<T>, grid_of_tiles(joined), stream, mean, var,
               parts, in, joined);
    });
}

void welford_merge(Array mean, Array var, Array unbiased, ConstArray means, ConstArray vars,
                   ConstArray counts, std::int64_t channels, Stream stream) {
    if (channels == 0) return;
    launch("welford_merge", welford_merge_kernel, grid_for(channels), stream, mean, var, unbiased,
           means, vars, static_cast<const std::int64_t*>(counts.data), counts.size, channels);
}

void welford_backward_sums(Array sum_dy, Array sum_dy_centred, ConstArray dy, ConstArray x,
                           ConstArray mean, std::int64_t rows, std::int64_t channels,
                           Stream stream) {
    assert(x.size == rows * channels && dy.size == x.size && dy.dtype == x.dtype);
    if (channels == 0) return;
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        using W = Compute<T>;
        T* const nowhere = nullptr;
        const T* const none = nullptr;
        unsigned* const unasked = nullptr;
        const Tiling tiling = tiling_of(rows, channels, 1);
        W* parts = room_for_parts<W>(tiling, stream);
        launch("welford_gradient_sums", gradient_sums_kernel<T>, grid_of(tiling), stream, parts,
               nowhere, unasked, static_cast<const T*>(dy.data), none,
               static_cast<const T*>(x.data), none, static_cast<const W*>(mean.data),
               ForwardFactors<W>{nullptr, nullptr, nullptr}, tiling);
        const Tiling joined = joining(tiling);
        launch("welford_sums", welford_sums_kernel<W>, grid_of_tiles(joined), stream, sum_dy,
               sum_dy_centred, parts, joined);
    });
}

}  // namespace kernels::cuda
