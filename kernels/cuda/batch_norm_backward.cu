#include "cuda/batch_norm_sums.cuh"
#include "cuda/workspace.h"
#include "kernels/batch_norm.h"

namespace kernels::cuda {
namespace {

/// Ends a backward pass from a channel's sums. factors: of dx = scale * g + slope * (x - mean) +
/// offset.
template <typename W>
struct FinishSums {
    ChannelFactors<W> factors;
    const W* invstd;
    Array dweight, dbias;
    ConstArray weight;
    std::int64_t rows;
    bool training;

    __device__ void operator()(std::int64_t c, double sum_g, double sum_gx) const {
        const auto inverse = static_cast<double>(invstd[c]);
        const auto terms = static_cast<double>(rows);
        sum_gx *= inverse;
        put_channel(dbias, c, sum_g);
        put_channel(dweight, c, sum_gx);
        const double scale = channel_or(weight, c, 1) * inverse;
        factors.first[c] = static_cast<W>(scale);
        factors.second[c] = static_cast<W>(training ? -scale * inverse * sum_gx / terms : 0);
        factors.third[c] = static_cast<W>(training ? -scale * sum_g / terms : 0);
    }
};

/// addend, y, shift, dresidual and largest may be null; with largest the magnitudes of dy (with the
/// addend) and dx are taken along. shift: of the forward pass, to recompute y; its factor is that
/// of g here. Without `training` dx depends on g alone: an infinite x must not enter as 0 * inf.
template <typename T, int width>
__global__ void gradient_kernel(T* __restrict__ dx, T* __restrict__ dresidual, unsigned* largest,
                                const T* __restrict__ dy, const T* __restrict__ addend,
                                const T* __restrict__ x, const T* __restrict__ y,
                                const Compute<T>* __restrict__ mean,
                                ChannelFactors<Compute<T>> factors,
                                const Compute<T>* __restrict__ shift, Tiling tiling,
                                bool training) {
    using W = Compute<T>;
    const BatchNormInputs<T> in{dy, addend, y, shift != nullptr};
    Magnitudes<T> magnitudes;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = (tile * tiling.columns + tile_column(tiling)) * width;
        if (c >= tiling.channels) continue;
        Normalization<W, width> channels;
        W slope[width], offset[width];
        load_factors(channels.mean, mean + c);
        load_factors(channels.factor, factors.first + c);
        if (shift != nullptr) load_factors(channels.shift, shift + c);
        load_factors(slope, factors.second + c);
        load_factors(offset, factors.third + c);
        for_each_batch<1>(tiling, [&](std::int64_t row, int, int) {
            const std::int64_t at = row * tiling.channels + c;
            const auto x_pack = load_pack<width>(x + at);
            W g[width];
            in.gradient(g, at, x_pack, channels, [&](T above) { magnitudes.add(above); });
            Pack<T, width> out, passed;
            for (int k = 0; k < width; ++k) {
                const W centred = widen(x_pack.at[k]) - channels.mean[k];
                const W rest = training ? multiply_add(centred, slope[k], offset[k]) : W{0};
                out.at[k] = narrow<T>(multiply_add(g[k], channels.factor[k], rest));
                passed.at[k] = narrow<T>(g[k]);
                magnitudes.add(out.at[k]);
            }
            if (dresidual != nullptr) store_pack(dresidual + at, passed);
            store_pack(dx + at, out);
        });
    }
    magnitudes.put(largest);
}

/// The operands as typed memory.
template <typename T>
struct Gradients {
    T* dx;
    T* dresidual;
    const T *dy, *addend, *x, *y;

    bool fit_packs(std::int64_t channels, const Compute<T>* mean,
                   const ForwardFactors<Compute<T>>& forward) const {
        return fits_packs<T>(channels, static_cast<const T*>(dx), static_cast<const T*>(dresidual),
                             dy, addend, x, y, mean, forward.invstd, forward.weight, forward.bias);
    }
    /// The gradients that are left to write when the sums' kernel has written g to dresidual.
    Gradients after_sums() const { return {dx, nullptr, dresidual, nullptr, x, nullptr}; }
};

/// Where the forward pass can be recomputed: it needs parameters of its own type, which are read in
/// packs as the elements are.
template <typename W>
ForwardFactors<W> forward_factors(ConstArray weight, ConstArray bias, ConstArray invstd) {
    const bool known = weight.data != nullptr && bias.data != nullptr &&
                       weight.dtype == invstd.dtype && bias.dtype == invstd.dtype;
    if (!known) return {nullptr, nullptr, nullptr};
    const ForwardFactors<W> all{static_cast<const W*>(invstd.data),
                                static_cast<const W*>(weight.data),
                                static_cast<const W*>(bias.data)};
    constexpr int width = pack_width<W>;
    return packs_in<width>(width, all.invstd, all.weight, all.bias) > 0
               ? all
               : ForwardFactors<W>{nullptr, nullptr, nullptr};
}

}  // namespace

void batch_norm_backward(Array dx, Array dresidual, Array dweight, Array dbias, float* f16_max,
                         ConstArray dy, ConstArray addend, ConstArray x, ConstArray y,
                         ConstArray weight, ConstArray bias, ConstArray mean, ConstArray invstd,
                         bool relu, bool training, const BatchNormShape& shape, Stream stream) {
    if (shape.channels == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        Gradients<T> all{
            static_cast<T*>(dx.data),       static_cast<T*>(dresidual.data),
            static_cast<const T*>(dy.data), static_cast<const T*>(addend.data),
            static_cast<const T*>(x.data),  relu ? static_cast<const T*>(y.data) : nullptr};
        ForwardFactors<W> forward{nullptr, nullptr, nullptr};
        if (relu) forward = forward_factors<W>(weight, bias, invstd);
        if (forward.bias != nullptr) all.y = nullptr;
        const auto* means = static_cast<const W*>(mean.data);
        auto* largest = reinterpret_cast<unsigned*>(f16_max);
        constexpr int wide = pack_width<T>;
        const bool packed = all.fit_packs(shape.channels, means, forward);
        Tiling sums = tiling_of_sums(shape.rows, shape.channels, packed ? wide : 1);
        // Running statistics and fixed weights: nobody asks for the sums, but for the factors.
        if (!training && dweight.data == nullptr && dbias.data == nullptr)
            sums.chunks = sums.chunk_rows = 0;
        const std::int64_t numbers = (3 + 2 * sums.chunks) * shape.channels;
        auto* memory =
            static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
        const auto factors = channel_factors(memory, shape.channels);
        W* parts = memory + 3 * shape.channels;
        // The sums' kernel has g in registers: written there, it is read once instead of what it is
        // made of.
        const bool pass_on = all.dresidual != nullptr && sums.chunks > 0;
        using Finish = FinishSums<W>;
        launch("batch_norm_sums",
               packed ? gradient_sums_kernel<T, wide, Finish> : gradient_sums_kernel<T, 1, Finish>,
               grid_of_sums(sums), stream, parts, finish_counts(stream),
               pass_on ? all.dresidual : nullptr, pass_on ? largest : nullptr, all.dy, all.addend,
               all.x, all.y, means, forward, sums,
               Finish{factors, static_cast<const W*>(invstd.data), dweight, dbias, weight,
                      shape.rows, training});
        if (pass_on) {
            all = all.after_sums();
            forward = {nullptr, nullptr, nullptr};
        }
        const Tiling tiling = tiling_of_map(shape.rows, shape.channels, packed ? wide : 1);
        launch("batch_norm_gradient", packed ? gradient_kernel<T, wide> : gradient_kernel<T, 1>,
               grid_of(tiling), stream, all.dx, all.dresidual, largest, all.dy, all.addend, all.x,
               all.y, means, factors, forward.bias, tiling, training);
    });
}

}  // namespace kernels::cuda
