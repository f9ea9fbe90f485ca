#include "cuda/batch_norm_sums.cuh"
#include "cuda/block_reduce.cuh"
#include "cuda/workspace.h"
#include "kernels/batch_norm.h"

namespace kernels::cuda {
namespace {

struct WeightGradients {
    Array dweight, dbias;
    ConstArray weight;
    bool training;
};

/// Adds the chunks' sums in f64. factors: of dx = scale * g + slope * (x - mean) + offset.
template <typename W>
__global__ void join_sums_kernel(ChannelFactors<W> factors, const W* parts, const W* invstd,
                                 Tiling chunks, WeightGradients out) {
    const std::int64_t n = chunks.channels;
    for (std::int64_t tile = blockIdx.x; tile < chunks.tiles; tile += gridDim.x) {
        const std::int64_t c = tile * chunks.columns + tile_column(chunks);
        const bool inside = c < n;
        double sum_g = 0, sum_gx = 0;
#pragma unroll 4
        for (std::int64_t k = tile_row(chunks); inside && k < chunks.chunks;
             k += tile_rows(chunks)) {
            sum_g += static_cast<double>(parts[2 * k * n + c]);
            sum_gx += static_cast<double>(parts[(2 * k + 1) * n + c]);
        }
        sum_g = column_sum(sum_g, chunks.columns);
        sum_gx = column_sum(sum_gx, chunks.columns);
        if (!inside || tile_row(chunks) != 0) continue;
        const auto inverse = static_cast<double>(invstd[c]);
        const auto rows = static_cast<double>(chunks.rows);
        sum_gx *= inverse;
        put_channel(out.dbias, c, sum_g);
        put_channel(out.dweight, c, sum_gx);
        const double scale = channel_or(out.weight, c, 1) * inverse;
        factors.first[c] = static_cast<W>(scale);
        factors.second[c] = static_cast<W>(out.training ? -scale * inverse * sum_gx / rows : 0);
        factors.third[c] = static_cast<W>(out.training ? -scale * sum_g / rows : 0);
    }
}

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

/// dresidual and largest may be null; with largest the magnitudes of dy and dx are taken along.
/// Without `training` dx depends on g alone: an infinite x must not enter as 0 * inf.
template <typename T, int width>
__global__ void gradient_kernel(T* dx, T* dresidual, unsigned* largest, BatchNormInputs<T> in,
                                const Compute<T>* mean, ChannelFactors<Compute<T>> factors,
                                Tiling tiling, bool training) {
    using W = Compute<T>;
    Magnitudes<T> magnitudes;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = (tile * tiling.columns + tile_column(tiling)) * width;
        if (c >= tiling.channels) continue;
        W middle[width], scale[width], slope[width], offset[width];
        load_factors(middle, mean + c);
        load_factors(scale, factors.first + c);
        load_factors(slope, factors.second + c);
        load_factors(offset, factors.third + c);
        for_each_batch<1>(tiling, [&](std::int64_t row, int, int) {
            const std::int64_t at = row * tiling.channels + c;
            const auto x = load_pack<width>(in.x + at);
            W g[width];
            in.gradient(g, at, [&](T above) { magnitudes.add(above); });
            Pack<T, width> out, passed;
            for (int k = 0; k < width; ++k) {
                const W rest =
                    training ? multiply_add(widen(x.at[k]) - middle[k], slope[k], offset[k]) : W{0};
                out.at[k] = narrow<T>(multiply_add(g[k], scale[k], rest));
                passed.at[k] = narrow<T>(g[k]);
                magnitudes.add(out.at[k]);
            }
            if (dresidual != nullptr) store_pack(dresidual + at, passed);
            store_pack(dx + at, out);
        });
    }
    magnitudes.put(largest);
}

}  // namespace

void batch_norm_backward(Array dx, Array dresidual, Array dweight, Array dbias, float* f16_max,
                         ConstArray dy, ConstArray x, ConstArray y, ConstArray weight,
                         ConstArray mean, ConstArray invstd, bool relu, bool training,
                         const BatchNormShape& shape, Stream stream) {
    if (shape.channels == 0) return;
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        using W = Compute<T>;
        const BatchNormInputs<T> in{static_cast<const T*>(dy.data), static_cast<const T*>(x.data),
                                    relu ? static_cast<const T*>(y.data) : nullptr};
        const auto* means = static_cast<const W*>(mean.data);
        constexpr int wide = pack_width<T>;
        const bool packed_sums = fits_packs<T>(shape.channels, in.dy, in.x, in.y);
        Tiling sums = tiling_of_sums(shape.rows, shape.channels, packed_sums ? wide : 1);
        // Running statistics and fixed weights: nobody asks for the sums.
        if (!training && dweight.data == nullptr && dbias.data == nullptr) sums.chunks = 0;
        const std::int64_t numbers = (3 + 2 * sums.chunks) * shape.channels;
        auto* memory =
            static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
        const auto factors = channel_factors(memory, shape.channels);
        W* parts = memory + 3 * shape.channels;
        launch("batch_norm_sums",
               packed_sums ? gradient_sums_kernel<T, wide> : gradient_sums_kernel<T, 1>,
               grid_of(sums), stream, parts, in, means, sums);
        const Tiling joined = joining(sums);
        launch("batch_norm_join", join_sums_kernel<W>, grid_of_tiles(joined), stream, factors,
               parts, static_cast<const W*>(invstd.data), joined,
               WeightGradients{dweight, dbias, weight, training});
        auto* to = static_cast<T*>(dx.data);
        auto* residual = static_cast<T*>(dresidual.data);
        const bool packed =
            fits_packs<T>(shape.channels, to, static_cast<const T*>(residual), in.dy, in.x, in.y);
        const Tiling tiling = tiling_of(shape.rows, shape.channels, packed ? wide : 1);
        launch("batch_norm_gradient", packed ? gradient_kernel<T, wide> : gradient_kernel<T, 1>,
               grid_of(tiling), stream, to, residual, reinterpret_cast<unsigned*>(f16_max), in,
               means, factors, tiling, training);
    });
}

}  // namespace kernels::cuda
