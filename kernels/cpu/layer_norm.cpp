#include "kernels/layer_norm.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "cpu/formula_double.h"
#include "cpu/grain.h"
#include "cpu/layer_norm_rows.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// How many rows one task of a backward pass sums: fixed by the shape, so that the result does not
/// depend on threads.
struct LayerNormChunks {
    explicit LayerNormChunks(const LayerNormShape& shape)
        : total(shape.rows),
          rows(std::max(layer_norm_block,
                        row_grain(shape.cols) / layer_norm_block * layer_norm_block)),
          count((shape.rows + rows - 1) / rows) {}
    std::int64_t total, rows, count;
    std::int64_t begin(std::int64_t k) const { return k * rows; }
    std::int64_t end(std::int64_t k) const { return std::min(total, (k + 1) * rows); }
};

template <class W>
LayerNormRows<W> layer_norm_rows_with(void* mean, void* rstd, ConstArray weight, const void* bias,
                                      const LayerNormShape& shape) {
    return {shape.rms ? nullptr : static_cast<W*>(mean),
            static_cast<W*>(rstd),
            static_cast<const W*>(weight.data),
            static_cast<const W*>(bias),
            shape.cols,
            shape.eps};
}

template <class W>
void put_sums(Array to, const double* sums, std::int64_t cols) {
    if (to.data == nullptr) return;
    for (std::int64_t c = 0; c < cols; ++c) static_cast<W*>(to.data)[c] = static_cast<W>(sums[c]);
}

/// Gradients of the parameters from `rows(sums, begin, end)`, which adds up those of rows: dy xhat
/// in sums[0, cols), dy in sums[cols, 2 cols). Called with null if no gradient is asked for. Ranges
/// begin at multiples of layer_norm_block if one is.
template <class W, class Rows>
void sum_layer_norm_gradients(Array dweight, Array dbias, const LayerNormShape& shape,
                              const Rows& rows) {
    if (dweight.data == nullptr && dbias.data == nullptr) {
        parallel_for(shape.rows, row_grain(shape.cols),
                     [&](std::int64_t begin, std::int64_t end) { rows(nullptr, begin, end); });
        return;
    }
    const LayerNormChunks chunks(shape);
    const std::int64_t numbers = 2 * shape.cols;
    std::vector<double> parts(
        static_cast<std::size_t>(std::max<std::int64_t>(chunks.count, 1) * numbers));
    parallel_for(chunks.count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
            rows(parts.data() + k * numbers, chunks.begin(k), chunks.end(k));
    });
    for (std::int64_t k = 1; k < chunks.count; ++k)
        for (std::int64_t i = 0; i < numbers; ++i)
            parts[static_cast<std::size_t>(i)] += parts[static_cast<std::size_t>(k * numbers + i)];
    put_sums<W>(dweight, parts.data(), shape.cols);
    put_sums<W>(dbias, parts.data() + shape.cols, shape.cols);
}

template <class W>
void backward(Array dx, Array dweight, Array dbias, ConstArray dy, ConstArray x,
              const LayerNormRows<W>& with, const LayerNormShape& shape) {
    sum_layer_norm_gradients<W>(dweight, dbias, shape,
                                [&](double* sums, std::int64_t begin, std::int64_t end) {
                                    layer_norm_gradient_rows(dx, sums, dy, x, with, begin, end);
                                });
}

}  // namespace

void layer_norm_forward(Array y, Array mean, Array rstd, ConstArray x, ConstArray weight,
                        ConstArray bias, const LayerNormShape& shape, Stream) {
    assert(x.size == shape.rows * shape.cols && y.size == x.size);
    const auto run = [&](const auto& with) {
        parallel_for(shape.rows, row_grain(shape.cols), [&](std::int64_t begin, std::int64_t end) {
            layer_norm_rows(y, x, with, begin, end);
        });
    };
    if (x.dtype == DType::f64)
        run(layer_norm_rows_with<double>(mean.data, rstd.data, weight, bias.data, shape));
    else
        run(layer_norm_rows_with<float>(mean.data, rstd.data, weight, bias.data, shape));
}

void layer_norm_backward(Array dx, Array dweight, Array dbias, ConstArray dy, ConstArray x,
                         ConstArray weight, ConstArray mean, ConstArray rstd,
                         const LayerNormShape& shape, Stream) {
    assert(x.size == shape.rows * shape.cols && dx.size == x.size && dx.dtype == x.dtype);
    // The rows only read them here.
    void* means = const_cast<void*>(mean.data);
    void* deviations = const_cast<void*>(rstd.data);
    if (x.dtype == DType::f64)
        backward(dx, dweight, dbias, dy, x,
                 layer_norm_rows_with<double>(means, deviations, weight, nullptr, shape), shape);
    else
        backward(dx, dweight, dbias, dy, x,
                 layer_norm_rows_with<float>(means, deviations, weight, nullptr, shape), shape);
}

namespace wide {
namespace {

#define HALFTONE_FORMULA
#include "cpu/norm_formulas.inc"
#undef HALFTONE_FORMULA

}  // namespace
}  // namespace wide

namespace {

double weight_of(const LayerNormRowsF64& with, std::int64_t c) {
    return with.weight != nullptr ? with.weight[c] : 1;
}

double row_mean(const double* x, std::int64_t cols) {
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += x[c];
    return sum / static_cast<double>(cols);
}

}  // namespace

void layer_norm_rows(Array y, ConstArray x, const LayerNormRowsF64& with, std::int64_t begin,
                     std::int64_t end) {
    const std::int64_t cols = with.cols;
    for (std::int64_t row = begin; row < end; ++row) {
        const double* in = static_cast<const double*>(x.data) + row * cols;
        double* out = static_cast<double*>(y.data) + row * cols;
        const double mean = with.mean != nullptr ? row_mean(in, cols) : 0;
        double squares = 0;
        for (std::int64_t c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
        const double rstd = 1 / std::sqrt(squares / static_cast<double>(cols) + with.eps);
        if (with.mean != nullptr) with.mean[row] = mean;
        with.rstd[row] = rstd;
        for (std::int64_t c = 0; c < cols; ++c) {
            const double shift = with.bias != nullptr ? with.bias[c] : 0;
            out[c] = wide::layer_normalized(in[c], mean, rstd) * weight_of(with, c) + shift;
        }
    }
}

void layer_norm_gradient_rows(Array dx, double* sums, ConstArray dy, ConstArray x,
                              const LayerNormRowsF64& with, std::int64_t begin, std::int64_t end) {
    const std::int64_t cols = with.cols;
    for (std::int64_t row = begin; row < end; ++row) {
        const double* in = static_cast<const double*>(x.data) + row * cols;
        const double* above = static_cast<const double*>(dy.data) + row * cols;
        double* out = static_cast<double*>(dx.data) + row * cols;
        const double mean = with.mean != nullptr ? with.mean[row] : 0, rstd = with.rstd[row];
        double sum_g = 0, sum_gx = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            const double g = above[c] * weight_of(with, c);
            sum_g += g;
            sum_gx += g * (in[c] - mean) * rstd;
        }
        const double shift = with.mean != nullptr ? sum_g / static_cast<double>(cols) : 0;
        const double slope = sum_gx / static_cast<double>(cols);
        for (std::int64_t c = 0; c < cols; ++c) {
            const double normal = wide::layer_normalized(in[c], mean, rstd), dy_c = above[c];
            if (sums != nullptr) {
                sums[c] += dy_c * normal;
                sums[cols + c] += dy_c;
            }
            out[c] =
                wide::layer_norm_gradient(dy_c * weight_of(with, c), normal, rstd, shift, slope);
        }
    }
}

namespace {

/// Elements of each operand that one piece of the forward pass takes up: they stay in the
/// first-level cache from the sum to the norm.
constexpr std::int64_t piece = 2048;

/// f(begin, end) for [begin, end) in pieces of `rows`.
template <class F>
void in_pieces(std::int64_t begin, std::int64_t end, std::int64_t rows, const F& f) {
    for (std::int64_t first = begin; first < end; first += rows)
        f(first, std::min(end, first + rows));
}

}  // namespace

void add_layer_norm_forward(Array sum, Array y, Array mean, Array rstd, ConstArray x,
                            ConstArray around, ConstArray weight, ConstArray bias,
                            const LayerNormShape& shape, Stream) {
    assert(sum.size == shape.rows * shape.cols && y.size == sum.size && x.size == sum.size);
    assert(y.dtype == sum.dtype && around.dtype == sum.dtype && !shape.rms);
    const auto with = layer_norm_rows_with<float>(mean.data, rstd.data, weight, bias.data, shape);
    const std::int64_t cols = shape.cols;
    const std::int64_t rows = std::max<std::int64_t>(1, piece / std::max<std::int64_t>(cols, 1));
    parallel_for(shape.rows, row_grain(cols), [&](std::int64_t begin, std::int64_t end) {
        in_pieces(begin, end, rows, [&](std::int64_t first, std::int64_t last) {
            add_range(sum, x, around, first * cols, last * cols);
            layer_norm_rows(y, sum, with, first, last);
        });
    });
}

void add_layer_norm_backward(const AddLayerNormGradients& to, ConstArray beside, ConstArray dy,
                             ConstArray sum, ConstArray weight, ConstArray mean, ConstArray rstd,
                             const LayerNormShape& shape, Stream) {
    assert(sum.size == shape.rows * shape.cols && to.dsum.size == sum.size);
    assert(to.dsum.dtype == sum.dtype && !shape.rms);
    // The rows only read them here.
    const auto with = layer_norm_rows_with<float>(
        const_cast<void*>(mean.data), const_cast<void*>(rstd.data), weight, nullptr, shape);
    const std::int64_t cols = shape.cols;
    sum_layer_norm_gradients<float>(
        to.dweight, to.dbias, shape, [&](double* sums, std::int64_t begin, std::int64_t end) {
            in_pieces(begin, end, layer_norm_block, [&](std::int64_t first, std::int64_t last) {
                layer_norm_gradient_rows(to.dsum, sums, dy, sum, with, first, last);
                if (beside.data != nullptr)
                    add_range(to.dsum, beside, to.dsum, first * cols, last * cols);
                if (to.dx.data != nullptr) convert_range(to.dx, to.dsum, first * cols, last * cols);
            });
        });
}

}  // namespace kernels::cpu
