#include "cuda/batch_norm_sums.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"
#include "kernels/batch_norm.h"

namespace kernels::cuda {
namespace {

/// What a channel's statistics are written to and combined with.
struct Statistics {
    Array mean, invstd, running_mean, running_var;
    ConstArray weight, bias;
    double eps, momentum;
};

/// factors: mean, factor of the centred value, shift.
template <typename W>
__device__ void put_factors(const ChannelFactors<W>& factors, const Statistics& s, std::int64_t c,
                            W mean, double invstd) {
    factors.first[c] = mean;
    factors.second[c] = static_cast<W>(invstd * channel_or(s.weight, c, 1));
    factors.third[c] = static_cast<W>(channel_or(s.bias, c, 0));
}

/// Joins the chunks' moments in f64. The grid's blocks share the tiles of channels.
template <typename T>
__global__ void join_moments_kernel(ChannelFactors<Compute<T>> factors, const Compute<T>* parts,
                                    const T* x, Tiling chunks, Statistics s) {
    using W = Compute<T>;
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
        sum = column_sum(sum, chunks.columns);
        const double distance = chunks.rows > 0 ? sum / rows : 0;
#pragma unroll 4
        for (std::int64_t k = tile_row(chunks); inside && k < chunks.chunks;
             k += tile_rows(chunks)) {
            const double d = static_cast<double>(parts[2 * k * n + c]) - distance;
            squares += static_cast<double>(parts[(2 * k + 1) * n + c]) + rows_of(k) * d * d;
        }
        squares = column_sum(squares, chunks.columns);
        if (!inside || tile_row(chunks) != 0) continue;
        const double mean =
            chunks.rows > 0 ? static_cast<double>(widen(x[c])) + distance : distance;
        const W invstd = static_cast<W>(1 / std::sqrt(squares / rows + s.eps));
        put_channel(s.mean, c, mean);
        put_channel(s.invstd, c, static_cast<double>(invstd));
        const double keep = 1 - s.momentum, unbiased = squares / (rows > 2 ? rows - 1 : 1);
        put_channel(s.running_mean, c, keep * channel_or(s.running_mean, c, 0) + s.momentum * mean);
        put_channel(s.running_var, c,
                    keep * channel_or(s.running_var, c, 0) + s.momentum * unbiased);
        put_factors(factors, s, c, static_cast<W>(mean), static_cast<double>(invstd));
    }
}

template <typename W>
__global__ void running_factors_kernel(ChannelFactors<W> factors, Statistics s,
                                       std::int64_t channels) {
    for (std::int64_t c = grid_thread(); c < channels; c += grid_threads()) {
        const double invstd = 1 / std::sqrt(channel_or(s.running_var, c, 1) + s.eps);
        put_factors(factors, s, c, static_cast<W>(channel_or(s.running_mean, c, 0)), invstd);
    }
}

/// residual may be null.
template <typename T, int width>
__global__ void normalize_kernel(T* y, const T* x, const T* residual, bool relu,
                                 ChannelFactors<Compute<T>> factors, Tiling tiling) {
    using W = Compute<T>;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = (tile * tiling.columns + tile_column(tiling)) * width;
        if (c >= tiling.channels) continue;
        W mean[width], factor[width], shift[width];
        load_factors(mean, factors.first + c);
        load_factors(factor, factors.second + c);
        load_factors(shift, factors.third + c);
        for_each_batch<1>(tiling, [&](std::int64_t row, int, int) {
            const std::int64_t at = row * tiling.channels + c;
            const auto in = load_pack<width>(x + at);
            W value[width];
            for (int k = 0; k < width; ++k)
                value[k] = multiply_add(widen(in.at[k]) - mean[k], factor[k], shift[k]);
            if (residual != nullptr) {
                const auto more = load_pack<width>(residual + at);
                for (int k = 0; k < width; ++k) value[k] += widen(more.at[k]);
            }
            Pack<T, width> out;
            for (int k = 0; k < width; ++k)  // NaN stays
                out.at[k] = narrow<T>(relu && value[k] <= 0 ? W{0} : value[k]);
            store_pack(y + at, out);
        });
    }
}

template <typename T>
void normalize(Array y, ConstArray x, ConstArray residual, bool relu,
               const ChannelFactors<Compute<T>>& factors, const BatchNormShape& shape,
               Stream stream) {
    auto* to = static_cast<T*>(y.data);
    const auto* from = static_cast<const T*>(x.data);
    const auto* added = static_cast<const T*>(residual.data);
    constexpr int wide = pack_width<T>;
    const bool packed = fits_packs<T>(shape.channels, to, from, added);
    const Tiling tiling = tiling_of(shape.rows, shape.channels, packed ? wide : 1);
    launch("batch_norm_normalize", packed ? normalize_kernel<T, wide> : normalize_kernel<T, 1>,
           grid_of(tiling), stream, to, from, added, relu, factors, tiling);
}

}  // namespace

void batch_norm_forward_train(Array y, Array mean, Array invstd, Array running_mean,
                              Array running_var, ConstArray x, ConstArray weight, ConstArray bias,
                              ConstArray residual, bool relu, const BatchNormShape& shape,
                              Stream stream) {
    if (shape.channels == 0) return;
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        using W = Compute<T>;
        const auto* from = static_cast<const T*>(x.data);
        constexpr int wide = pack_width<T>;
        const bool packed = fits_packs<T>(shape.channels, from);
        const Tiling tiling = tiling_of_sums(shape.rows, shape.channels, packed ? wide : 1);
        const std::int64_t numbers = (3 + 2 * tiling.chunks) * shape.channels;
        auto* memory =
            static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
        const auto factors = channel_factors(memory, shape.channels);
        W* parts = memory + 3 * shape.channels;
        launch("batch_norm_moments", packed ? moments_kernel<T, wide> : moments_kernel<T, 1>,
               grid_of(tiling), stream, parts, from, tiling);
        const Tiling joined = joining(tiling);
        launch("batch_norm_join", join_moments_kernel<T>, grid_of_tiles(joined), stream, factors,
               parts, from, joined,
               Statistics{mean, invstd, running_mean, running_var, weight, bias, shape.eps,
                          shape.momentum});
        normalize<T>(y, x, residual, relu, factors, shape, stream);
    });
}

void batch_norm_forward_infer(Array y, ConstArray x, ConstArray weight, ConstArray bias,
                              ConstArray running_mean, ConstArray running_var, ConstArray residual,
                              bool relu, const BatchNormShape& shape, Stream stream) {
    if (shape.channels == 0 || shape.rows == 0) return;
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        using W = Compute<T>;
        auto* memory = static_cast<W*>(
            workspace(3 * static_cast<std::size_t>(shape.channels) * sizeof(W), stream));
        const auto factors = channel_factors(memory, shape.channels);
        const auto read_only = [](ConstArray a) {
            return Array{const_cast<void*>(a.data), a.dtype, a.size};
        };
        const Array none{nullptr, DType::f32, 0};
        launch("batch_norm_factors", running_factors_kernel<W>, grid_for(shape.channels), stream,
               factors,
               Statistics{none, none, read_only(running_mean), read_only(running_var), weight, bias,
                          shape.eps, shape.momentum},
               shape.channels);
        normalize<T>(y, x, residual, relu, factors, shape, stream);
    });
}

}  // namespace kernels::cuda
