#include "kernels/layer_norm.h"

#include <cassert>

#include "cpu/layer_norm_chunks.h"

namespace kernels::cpu {
namespace {

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

}  // namespace kernels::cpu
