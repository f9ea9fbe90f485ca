#include "kernels/layer_norm.h"

#include <cassert>
#include <cmath>

#include "cuda/batch_norm_tiles.cuh"
#include "cuda/rows.cuh"
#include "cuda/workspace.h"

namespace kernels::cuda {
namespace {

/// What belongs to the rows and to the columns; null as in the contract.
template <typename W>
struct LayerNormSides {
    W* mean;
    W* rstd;
    const W* weight;
    const W* bias;
    std::int64_t rows, cols;
    W eps;
};

template <typename W>
LayerNormSides<W> sides_of(const void* mean, const void* rstd, ConstArray weight, const void* bias,
                           const LayerNormShape& shape) {
    const auto memory = [](const void* data) { return static_cast<W*>(const_cast<void*>(data)); };
    return {shape.rms ? nullptr : memory(mean), memory(rstd), static_cast<const W*>(weight.data),
            static_cast<const W*>(bias),        shape.rows,   shape.cols,
            static_cast<W>(shape.eps)};
}

/// Sums of x - middle and of its square over the row, for every thread of the team.
template <int team, typename T>
__device__ __forceinline__ void row_moments(Compute<T>& sum, Compute<T>& squares, const T* x,
                                            Compute<T> middle, std::int64_t cols, int thread) {
    using W = Compute<T>;
    constexpr int width = pack_width<T>;
    W own = 0, own_squares = 0;
    for_each_part<team, width>(cols, fits_packs<width>(x), thread, [&](std::int64_t at, auto wide) {
        const auto values = load_pack<wide()>(x + at);
        W part = 0, part_squares = 0;
#pragma unroll
        for (int k = 0; k < wide(); ++k) {
            const W apart = widen(values.at[k]) - middle;
            part += apart;
            part_squares = multiply_add(apart, apart, part_squares);
        }
        own += part;
        own_squares += part_squares;
    });
    sum = team_reduce<team>(own, Sum{});
    squares = team_reduce<team>(own_squares, Sum{});
}

/// The columns' own factors; 1 where there are none.
template <int width, typename W>
__device__ __forceinline__ Pack<W, width> factors_at(const W* of, std::int64_t c) {
    if (of != nullptr) return load_pack<width>(of + c);
    Pack<W, width> ones;
#pragma unroll
    for (int k = 0; k < width; ++k) ones.at[k] = 1;
    return ones;
}

template <int team, typename To, typename From>
__global__ void layer_norm_forward_kernel(To* y, const From* x, LayerNormSides<Compute<From>> of) {
    using W = Compute<From>;
    for_each_row<team>(of.rows, [&](std::int64_t row, int thread) {
        const From* in = x + row * of.cols;
        const W count = static_cast<W>(of.cols);
        W sum = 0, squares = 0, middle = 0, left = 0;
        if (of.mean != nullptr) {
            row_moments<team>(sum, squares, in, W{0}, of.cols, thread);
            middle = sum / count;
        }
        row_moments<team>(sum, squares, in, middle, of.cols, thread);
        if (of.mean != nullptr) left = sum / count;  // what the first pass left of the mean
        const W var = squares / count - left * left;
        // An infinite mean stays one: what is left of it is inf - inf.
        const W mean = std::isfinite(middle) ? middle + left : middle;
        const W rstd = W{1} / std::sqrt((var < 0 ? W{0} : var) + of.eps);
        if (thread == 0) {
            if (of.mean != nullptr) of.mean[row] = mean;
            of.rstd[row] = rstd;
        }
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

constexpr int batch = 8;

/// Sums of dy xhat and of dy over the block's rows, two rows of `parts` a chunk. The last block
/// adds the chunks in f64.
template <typename G, typename T>
__global__ void weight_sums_kernel(Compute<T>* dweight, Compute<T>* dbias, Compute<T>* parts,
                                   unsigned* finished, const G* dy, const T* x,
                                   LayerNormSides<Compute<T>> of, Tiling tiling) {
    using W = Compute<T>;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = tile * tiling.columns + tile_column(tiling);
        W sum_g[1] = {}, sum_gx[1] = {};
        if (c < tiling.channels) {
            for_each_batch<batch>(tiling, [&](std::int64_t row, int step, int n) {
                W few_g = 0, few_gx = 0;  // a sum a batch keeps the error of many rows small
                for (int b = 0; b < batch; ++b) {
                    if (b >= n) continue;
                    const std::int64_t r = row + b * step, at = r * tiling.channels + c;
                    const W mean = of.mean != nullptr ? of.mean[r] : W{0};
                    const W g = widen(dy[at]);
                    few_g += g;
                    few_gx = multiply_add(g, (widen(x[at]) - mean) * of.rstd[r], few_gx);
                }
                sum_g[0] += few_g;
                sum_gx[0] += few_gx;
            });
        }
        column_sums(sum_g, tiling.columns);
        column_sums(sum_gx, tiling.columns);
        put_parts(parts, tiling, c, sum_gx, sum_g);
    }
    if (!is_last_block(finished + blockIdx.y, gridDim.x)) return;
    for (std::int64_t tile = blockIdx.y; tile < tiling.tiles; tile += gridDim.y) {
        const std::int64_t c = tile * tiling.columns + tile_column(tiling);
        double sum_g[1] = {}, sum_gx[1] = {};
        using One = Pack<W, 1>;
        for_each_chunk<1>(parts, tiling, c, [&](std::int64_t, const One& gx, const One& g) {
            sum_gx[0] += static_cast<double>(gx.at[0]);
            sum_g[0] += static_cast<double>(g.at[0]);
        });
        column_sums(sum_g, tiling.columns);
        column_sums(sum_gx, tiling.columns);
        if (tile_row(tiling) != 0 || c >= tiling.channels) continue;
        if (dweight != nullptr) dweight[c] = static_cast<W>(sum_gx[0]);
        if (dbias != nullptr) dbias[c] = static_cast<W>(sum_g[0]);
    }
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
    using W = Compute<T>;
    const auto* above = static_cast<const G*>(dy.data);
    const auto* in = static_cast<const T*>(x.data);
    if (dweight.data != nullptr || dbias.data != nullptr) {
        const Tiling tiling = tiling_of(of.rows, of.cols, 1);
        const std::int64_t numbers = 2 * tiling.chunks * of.cols;
        auto* parts =
            static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
        launch("layer_norm_weight_sums", weight_sums_kernel<G, T>, grid_of_sums(tiling), stream,
               static_cast<W*>(dweight.data), static_cast<W*>(dbias.data), parts,
               finish_counts(stream), above, in, of, tiling);
    }
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
    with_floating(x.dtype, [&](auto from) {
        using From = decltype(from);
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
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
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
