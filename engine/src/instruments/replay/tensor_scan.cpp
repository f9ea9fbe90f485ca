#include "instruments/replay/tensor_scan.h"

#include <cmath>

#include "kernels/elementwise.h"
#include "tensor/layout.h"

namespace engine {
namespace {

std::vector<std::int64_t> index_of(std::int64_t flat, const Shape& shape) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
        index[static_cast<std::size_t>(dim)] = flat % shape[dim];
        flat /= shape[dim];
    }
    return index;
}

double as_double(double x) { return x; }
double as_double(float x) { return static_cast<double>(x); }
double as_double(kernels::Half x) { return static_cast<double>(kernels::to_float(x)); }
double as_double(kernels::BFloat16 x) { return static_cast<double>(kernels::to_float(x)); }

template <typename T>
void count(const Tensor& row_major, BadTensor& out) {
    const T* values = row_major.data_as<T>();
    for (std::int64_t i = 0; i < row_major.numel(); ++i) {
        const double value = as_double(values[i]);
        if (std::isfinite(value)) continue;
        if (out.infinite + out.nan == 0) {
            out.index = index_of(i, row_major.shape());
            out.value = value;
        }
        ++(std::isnan(value) ? out.nan : out.infinite);
    }
}

}  // namespace

Tensor stored_values(const Tensor& x) { return x.is_sparse() ? sparse_parts(x).values : x; }

double largest_magnitude(const Tensor& x) {
    const Tensor values = dense(stored_values(x).detach());
    if (values.numel() == 0) return 0;
    const Tensor result = Tensor::zeros({}, DType::f32, values.device());
    on(values.device(), kernels::cpu::abs_max, kernels::cuda::abs_max)(
        result.data_as<float>(), values.array(), current_stream());
    return result.item();
}

TensorGlance glance(const Tensor& x) {
    return {name(x.dtype()), {x.shape().begin(), x.shape().end()}, largest_magnitude(x)};
}

void find_bad(const Tensor& x, BadTensor& out) {
    const Tensor values =
        in_layout(stored_values(x).detach(), Layout::contiguous).copy_to(Device{});
    out.total = values.numel();
    switch (values.dtype()) {
        case DType::f64:
            return count<double>(values, out);
        case DType::f32:
            return count<float>(values, out);
        case DType::f16:
            return count<kernels::Half>(values, out);
        case DType::bf16:
            return count<kernels::BFloat16>(values, out);
        default:
            return;
    }
}

}  // namespace engine
