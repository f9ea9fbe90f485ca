#include "kernels/layer_norm.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "cpu/grain.h"
#include "cpu/layer_norm_rows.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// How many rows one task sums: fixed by the shape, so that the result does not depend on threads.
struct Chunks {
    explicit Chunks(const LayerNormShape& shape)
        : total(shape.rows),
          rows(std::max<std::int64_t>(128, row_grain(shape.cols) / 128 * 128)),
          count((shape.rows + rows - 1) / rows) {}
    std::int64_t total, rows, count;
    std::int64_t begin(std::int64_t k) const { return k * rows; }
    std::int64_t end(std::int64_t k) const { return std::min(total, (k + 1) * rows); }
};

template <class W>
LayerNormRows<W> rows_with(void* mean, void* rstd, ConstArray weight, const void* bias,
                           const LayerNormShape& shape) {
    return {shape.rms ? nullptr : static_cast<W*>(mean),
            static_cast<W*>(rstd),
            static_cast<const W*>(weight.data),
            static_cast<const W*>(bias),
            shape.cols,
            shape.eps};
}

template <class W>
void put(Array to, const double* sums, std::int64_t cols) {
    if (to.data == nullptr) return;
    for (std::int64_t c = 0; c < cols; ++c) static_cast<W*>(to.data)[c] = static_cast<W>(sums[c]);
}

template <class W>
void backward(Array dx, Array dweight, Array dbias, ConstArray dy, ConstArray x,
              const LayerNormRows<W>& with, const LayerNormShape& shape) {
    if (dweight.data == nullptr && dbias.data == nullptr) {
        parallel_for(shape.rows, row_grain(shape.cols), [&](std::int64_t begin, std::int64_t end) {
            layer_norm_gradient_rows(dx, nullptr, dy, x, with, begin, end);
        });
        return;
    }
    const Chunks chunks(shape);
    const std::int64_t numbers = 2 * shape.cols;
    std::vector<double> parts(
        static_cast<std::size_t>(std::max<std::int64_t>(chunks.count, 1) * numbers));
    parallel_for(chunks.count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
            layer_norm_gradient_rows(dx, parts.data() + k * numbers, dy, x, with, chunks.begin(k),
                                     chunks.end(k));
    });
    for (std::int64_t k = 1; k < chunks.count; ++k)
        for (std::int64_t i = 0; i < numbers; ++i)
            parts[static_cast<std::size_t>(i)] += parts[static_cast<std::size_t>(k * numbers + i)];
    put<W>(dweight, parts.data(), shape.cols);
    put<W>(dbias, parts.data() + shape.cols, shape.cols);
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
        run(rows_with<double>(mean.data, rstd.data, weight, bias.data, shape));
    else
        run(rows_with<float>(mean.data, rstd.data, weight, bias.data, shape));
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
                 rows_with<double>(means, deviations, weight, nullptr, shape), shape);
    else
        backward(dx, dweight, dbias, dy, x,
                 rows_with<float>(means, deviations, weight, nullptr, shape), shape);
}

}  // namespace kernels::cpu
