#include "kernels/layer_norm.h"

#include <cassert>

#include "cuda/layer_norm_rows.cuh"

namespace kernels::cuda {
namespace {

/// A thread reads the elements of the sum that it has written itself: the passes over a row share
/// them out alike.
template <int team, typename S, typename X>
__global__ void add_layer_norm_forward_kernel(S* sum, S* y, const X* x, const S* around,
                                              LayerNormSides<Compute<S>> of) {
    using W = Compute<S>;
    constexpr int width = pack_width<S>;
    for_each_row<team>(of.rows, [&](std::int64_t row, int thread) {
        const std::int64_t begin = row * of.cols;
        S *const total = sum + begin, *const out = y + begin;
        const X* const first = x + begin;
        const S* const second = around + begin;
        const bool packed = fits_packs<width>(total) && fits_packs<width>(out) &&
                            fits_packs<width>(first) && fits_packs<width>(second) &&
                            fits_packs<width>(of.weight) && fits_packs<width>(of.bias);
        for_each_part<team, width>(of.cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto a = load_pack<wide()>(first + at);
            const auto b = load_pack<wide()>(second + at);
            Pack<S, wide()> both;
#pragma unroll
            for (int k = 0; k < wide(); ++k)
                both.at[k] = narrow<S>(static_cast<W>(widen(a.at[k])) + widen(b.at[k]));
            store_pack(total + at, both);
        });
        const auto [mean, rstd] = row_statistics<team, S>(total, of, row, packed, thread);
        for_each_part<team, width>(of.cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto values = load_pack<wide()>(total + at);
            const auto weight = factors_at<wide()>(of.weight, at);
            const auto bias = factors_at<wide()>(of.bias, at);
            Pack<S, wide()> results;
#pragma unroll
            for (int k = 0; k < wide(); ++k) {
                W value = (widen(values.at[k]) - mean) * rstd;
                if (of.weight != nullptr) value *= weight.at[k];
                if (of.bias != nullptr) value += bias.at[k];
                results.at[k] = narrow<S>(value);
            }
            store_pack(out + at, results);
        });
    });
}

/// beside and dx may be null.
template <int team, typename S, typename X>
__global__ void add_layer_norm_gradient_kernel(S* dsum, X* dx, const S* beside, const S* dy,
                                               const S* sum, LayerNormSides<Compute<S>> of) {
    using W = Compute<S>;
    constexpr int width = pack_width<S>;
    for_each_row<team>(of.rows, [&](std::int64_t row, int thread) {
        const std::int64_t begin = row * of.cols;
        const S *const in = sum + begin, *const above = dy + begin;
        S* const result = dsum + begin;
        const S* const other = beside != nullptr ? beside + begin : nullptr;
        X* const low = dx != nullptr ? dx + begin : nullptr;
        const W mean = of.mean[row], rstd = of.rstd[row];
        const bool packed = fits_packs<width>(in) && fits_packs<width>(above) &&
                            fits_packs<width>(result) && fits_packs<width>(other) &&
                            fits_packs<width>(low) && fits_packs<width>(of.weight);
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
        const W shift = team_reduce<team>(sum_g, Sum{}) / count;
        const W slope = team_reduce<team>(sum_gx, Sum{}) / count;
        for_each_part<team, width>(of.cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto values = load_pack<wide()>(in + at);
            const auto gradients = load_pack<wide()>(above + at);
            const auto weight = factors_at<wide()>(of.weight, at);
            Pack<S, wide()> results;
#pragma unroll
            for (int k = 0; k < wide(); ++k) {
                const W normal = (widen(values.at[k]) - mean) * rstd;
                const W g = widen(gradients.at[k]) * weight.at[k];
                results.at[k] = narrow<S>(rstd * (g - shift - normal * slope));
            }
            if (other != nullptr) {
                const auto more = load_pack<wide()>(other + at);
#pragma unroll
                for (int k = 0; k < wide(); ++k)
                    results.at[k] = narrow<S>(widen(more.at[k]) + widen(results.at[k]));
            }
            store_pack(result + at, results);
            if (low == nullptr) return;
            Pack<X, wide()> lows;
#pragma unroll
            for (int k = 0; k < wide(); ++k) lows.at[k] = narrow<X>(widen(results.at[k]));
            store_pack(low + at, lows);
        });
    });
}

/// f(S{}, X{}) with the types of the sum and of x.
template <typename F>
void with_types(DType sum, DType x, const F& f) {
    if (sum == DType::f32 && x == DType::f32) return f(float{}, float{});
    if (sum == DType::f32 && x == DType::f16) return f(float{}, Half{});
    if (sum == DType::f32 && x == DType::bf16) return f(float{}, BFloat16{});
    if (sum == DType::f16 && x == DType::f16) return f(Half{}, Half{});
    if (sum == DType::bf16 && x == DType::bf16) return f(BFloat16{}, BFloat16{});
    throw DeviceError("add_layer_norm: x is neither of the sum's dtype nor 16-bit beside f32");
}

}  // namespace

void add_layer_norm_forward(Array sum, Array y, Array mean, Array rstd, ConstArray x,
                            ConstArray around, ConstArray weight, ConstArray bias,
                            const LayerNormShape& shape, Stream stream) {
    assert(sum.size == shape.rows * shape.cols && y.size == sum.size && x.size == sum.size);
    assert(y.dtype == sum.dtype && around.dtype == sum.dtype && !shape.rms);
    with_types(sum.dtype, x.dtype, [&](auto of_sum, auto of_x) {
        using S = decltype(of_sum);
        using X = decltype(of_x);
        with_team(shape.cols, [&](auto team) {
            launch("add_layer_norm_forward", add_layer_norm_forward_kernel<team(), S, X>,
                   grid_of_rows<team()>(shape.rows), stream, static_cast<S*>(sum.data),
                   static_cast<S*>(y.data), static_cast<const X*>(x.data),
                   static_cast<const S*>(around.data),
                   sides_of<float>(mean.data, rstd.data, weight, bias.data, shape));
        });
    });
}

void add_layer_norm_backward(const AddLayerNormGradients& to, ConstArray beside, ConstArray dy,
                             ConstArray sum, ConstArray weight, ConstArray mean, ConstArray rstd,
                             const LayerNormShape& shape, Stream stream) {
    assert(sum.size == shape.rows * shape.cols && to.dsum.size == sum.size);
    assert(to.dsum.dtype == sum.dtype && dy.dtype == sum.dtype && !shape.rms);
    if (shape.cols == 0) return;
    const auto of = sides_of<float>(mean.data, rstd.data, weight, nullptr, shape);
    const DType type_of_x = to.dx.data != nullptr ? to.dx.dtype : sum.dtype;
    with_types(sum.dtype, type_of_x, [&](auto of_sum, auto of_x) {
        using S = decltype(of_sum);
        using X = decltype(of_x);
        const auto *above = static_cast<const S*>(dy.data), *in = static_cast<const S*>(sum.data);
        start_weight_sums(to.dweight, to.dbias, above, in, of, stream);
        with_team(shape.cols, [&](auto team) {
            launch("add_layer_norm_gradient", add_layer_norm_gradient_kernel<team(), S, X>,
                   grid_of_rows<team()>(shape.rows), stream, static_cast<S*>(to.dsum.data),
                   static_cast<X*>(to.dx.data), static_cast<const S*>(beside.data), above, in, of);
        });
    });
}

}  // namespace kernels::cuda
