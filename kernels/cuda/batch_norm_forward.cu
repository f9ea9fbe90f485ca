#include "cuda/batch_norm_sums.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"
#include "kernels/batch_norm.h"

namespace kernels::cuda {
namespace {

/// Arrays to which a channel's statistics are written, and with which they are combined.
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

/// Ends a forward pass from a channel's joined moments.
template <typename W>
struct FinishMoments {
    ChannelFactors<W> factors;
    Statistics to;

    __device__ void operator()(std::int64_t c, double first, double distance, double squares,
                               double rows) const {
        const double mean = first + distance;
        const W invstd = static_cast<W>(1 / std::sqrt(squares / rows + to.eps));
        put_channel(to.mean, c, mean);
        put_channel(to.invstd, c, static_cast<double>(invstd));
        const double keep = 1 - to.momentum, unbiased = squares / (rows > 2 ? rows - 1 : 1);
        put_channel(to.running_mean, c,
                    keep * channel_or(to.running_mean, c, 0) + to.momentum * mean);
        put_channel(to.running_var, c,
                    keep * channel_or(to.running_var, c, 0) + to.momentum * unbiased);
        put_factors(factors, to, c, static_cast<W>(mean), static_cast<double>(invstd));
    }
};

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
    wait_for_earlier_kernels();
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
    const Tiling tiling = tiling_of_map(shape.rows, shape.channels, packed ? wide : 1);
    launch_early("batch_norm_normalize",
                 packed ? normalize_kernel<T, wide> : normalize_kernel<T, 1>, grid_of(tiling),
                 stream, to, from, added, relu, factors, tiling);
}

}  // namespace

void batch_norm_forward_train(Array y, Array mean, Array invstd, Array running_mean,
                              Array running_var, ConstArray x, ConstArray weight, ConstArray bias,
                              ConstArray residual, bool relu, const BatchNormShape& shape,
                              Stream stream) {
    if (shape.channels == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
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
        using Finish = FinishMoments<W>;
        launch("batch_norm_moments",
               packed ? moments_kernel<T, wide, Finish> : moments_kernel<T, 1, Finish>,
               grid_of_sums(tiling), stream, parts, finish_counts(stream), from, tiling,
               Finish{factors,
                      {mean, invstd, running_mean, running_var, weight, bias, shape.eps,
                       shape.momentum}});
        normalize<T>(y, x, residual, relu, factors, shape, stream);
    });
}

void batch_norm_forward_infer(Array y, ConstArray x, ConstArray weight, ConstArray bias,
                              ConstArray running_mean, ConstArray running_var, ConstArray residual,
                              bool relu, const BatchNormShape& shape, Stream stream) {
    if (shape.channels == 0 || shape.rows == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
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
