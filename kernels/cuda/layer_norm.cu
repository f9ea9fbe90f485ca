#include "kernels/layer_norm.h"

#include <cassert>

#include "cuda/layer_norm_rows.cuh"

namespace kernels::cuda {
namespace {

template <int team, typename To, typename From>
__global__ void layer_norm_forward_kernel(To* y, const From* x, LayerNormSides<Compute<From>> of) {
    using W = Compute<From>;
    for_each_row<team>(of.rows, [&](std::int64_t row, int thread) {
        const From* in = x + row * of.cols;
        const auto [mean, rstd] =
            row_statistics<team>(in, of, row, fits_packs<pack_width<From>>(in), thread);
        To* out = y + row * of.cols;
        constexpr int width = pack_width<To, From>;
        const bool packed = fits_packs<width>(out) && fits_packs<width>(in) &&
                            fits_packs<width>(of.weight) && fits_packs<width>(of.bias);
        for_each_part<team, width>(of.cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto values = load_pack<wide()>(in + at);
            const auto weight = factors_at<wide()>(of.weight, at);
            const auto bias = factors_at<wide()>(of.bias, at);
            Pack<To, wide()> results;
#pragma unroll
            for (int k = 0; k < wide(); ++k) {
                W value = (widen(values.at[k]) - mean) * rstd;
                if (of.weight != nullptr) value *= weight.at[k];
                if (of.bias != nullptr) value += bias.at[k];
                results.at[k] = narrow<To>(value);
            }
            store_pack(out + at, results);
        });
    });
}

template <int team, typename G, typename T>
__global__ void layer_norm_gradient_kernel(T* dx, const G* dy, const T* x,
                                           LayerNormSides<Compute<T>> of) {
    using W = Compute<T>;
    constexpr int width = pack_width<G, T>;
    for_each_row<team>(of.rows, [&](std::int64_t row, int thread) {
        const T* in = x + row * of.cols;
        const G* above = dy + row * of.cols;
        T* result = dx + row * of.cols;
        const W mean = of.mean != nullptr ? of.mean[row] : W{0}, rstd = of.rstd[row];
        const bool packed = fits_packs<width>(in) && fits_packs<width>(above) &&
                            fits_packs<width>(result) && fits_packs<width>(of.weight);
        W sum_g = 0, sum_gx = 0;
        for_each_part<team, width>(of.cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto values = load_pack<wide()>(in + at);
            const auto gradients = load_pack<wide()>(above + at);
            const auto weight = factors_at<wide()>(of.weight, at);
            W part = 0, part_x = 0;
#pragma unroll
            for (int k = 0; k < wide(); ++k) {
                const W g = widen(gradients.at[k]) * weight.at[k];
                part += g;
                part_x = multiply_add(g, (widen(values.at[k]) - mean) * rstd, part_x);
            }
            sum_g += part;
            sum_gx += part_x;
        });
        const W count = static_cast<W>(of.cols);
        const W all_g = team_reduce<team>(sum_g, Sum{});
        const W shift = of.mean != nullptr ? all_g / count : W{0};
        const W slope = team_reduce<team>(sum_gx, Sum{}) / count;
        for_each_part<team, width>(of.cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto values = load_pack<wide()>(in + at);
            const auto gradients = load_pack<wide()>(above + at);
            const auto weight = factors_at<wide()>(of.weight, at);
            Pack<T, wide()> results;
#pragma unroll
            for (int k = 0; k < wide(); ++k) {
                const W normal = (widen(values.at[k]) - mean) * rstd;
                const W g = widen(gradients.at[k]) * weight.at[k];
                results.at[k] = narrow<T>(rstd * (g - shift - normal * slope));
            }
            store_pack(result + at, results);
        });
    });
}

template <typename To, typename From>
void start_forward(Array y, Array mean, Array rstd, ConstArray x, ConstArray weight,
                   ConstArray bias, const LayerNormShape& shape, Stream stream) {
    using W = Compute<From>;
    with_team(shape.cols, [&](auto team) {
        launch("layer_norm_forward", layer_norm_forward_kernel<team(), To, From>,
               grid_of_rows<team()>(shape.rows), stream, static_cast<To*>(y.data),
               static_cast<const From*>(x.data),
               sides_of<W>(mean.data, rstd.data, weight, bias.data, shape));
    });
}

template <typename G, typename T>
void start_backward(Array dx, Array dweight, Array dbias, ConstArray dy, ConstArray x,
                    const LayerNormSides<Compute<T>>& of, Stream stream) {
    const auto* above = static_cast<const G*>(dy.data);
    const auto* in = static_cast<const T*>(x.data);
    start_weight_sums(dweight, dbias, above, in, of, stream);
    with_team(of.cols, [&](auto team) {
        launch("layer_norm_gradient", layer_norm_gradient_kernel<team(), G, T>,
               grid_of_rows<team()>(of.rows), stream, static_cast<T*>(dx.data), above, in, of);
    });
}

}  // namespace

void layer_norm_forward(Array y, Array mean, Array rstd, ConstArray x, ConstArray weight,
                        ConstArray bias, const LayerNormShape& shape, Stream stream) {
    assert(x.size == shape.rows * shape.cols && y.size == x.size);
    assert(y.dtype == x.dtype || y.dtype == DType::f32);
    with_floating(x.dtype, [&]<typename From>(From) {
        if (y.dtype == x.dtype)
            start_forward<From, From>(y, mean, rstd, x, weight, bias, shape, stream);
        else if constexpr (sizeof(From) == 2)
            start_forward<float, From>(y, mean, rstd, x, weight, bias, shape, stream);
        else
            throw DeviceError("layer_norm_forward: y is neither of x's dtype nor f32");
    });
}

void layer_norm_backward(Array dx, Array dweight, Array dbias, ConstArray dy, ConstArray x,
                         ConstArray weight, ConstArray mean, ConstArray rstd,
                         const LayerNormShape& shape, Stream stream) {
    assert(x.size == shape.rows * shape.cols && dx.size == x.size && dx.dtype == x.dtype);
    if (shape.cols == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        const auto of = sides_of<Compute<T>>(mean.data, rstd.data, weight, nullptr, shape);
        if (dy.dtype == x.dtype)
            start_backward<T, T>(dx, dweight, dbias, dy, x, of, stream);
        else if constexpr (sizeof(T) == 2)
            start_backward<float, T>(dx, dweight, dbias, dy, x, of, stream);
        else
            throw DeviceError("layer_norm_backward: dy is neither of x's dtype nor f32");
    });
}

}  // namespace kernels::cuda
