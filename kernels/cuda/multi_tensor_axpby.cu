#include "cuda/multi_tensor_update.cuh"
#include "kernels/multi_tensor.h"

namespace kernels::cuda {
namespace {

/// out in the master's place, x in the gradient's, y in the first state's; y may be null.
template <typename W>
__global__ void axpby_kernel(UpdateList list, double a, double b, float* found_inf) {
    const W wa = static_cast<W>(a), wb = static_cast<W>(b);
    bool found = false;
    for_each_run<update_width>(list.chunks, [&](int t, std::int64_t i, int n) {
        W x[update_width], y[update_width] = {};
        const bool two = list.data[UpdateList::state1][t] != nullptr;
        load(x, list, UpdateList::grad, t, i, n);
        if (two) load(y, list, UpdateList::state1, t, i, n);
        for (int k = 0; k < update_width; ++k) {
            found = found || !std::isfinite(x[k]) || !std::isfinite(y[k]);
            x[k] = wa * x[k];
            if (two) x[k] = multiply_add(wb, y[k], x[k]);
        }
        store(list, UpdateList::master, t, x, i, n);
    });
    raise_flag(found_inf, found);
}

}  // namespace

void multi_tensor_axpby(std::span<const Array> out, double a, std::span<const ConstArray> x,
                        double b, std::span<const ConstArray> y, float* found_inf, Stream stream) {
    const auto of_type = [&]<typename W>(W) {
        UpdateList list;
        const auto run = [&] {
            launch("multi_tensor_axpby", axpby_kernel<W>, grid_of(list.chunks), stream, list, a, b,
                   found_inf);
            list.chunks = {};
        };
        const auto array = [](const ConstArray& from) {
            return Array{const_cast<void*>(from.data), from.dtype, from.size};
        };
        for (std::size_t i = 0; i < out.size(); ++i) {
            const Array from = array(x[i]);
            const Array other = y.empty() ? Array{nullptr, DType::f32, 0} : array(y[i]);
            const bool wide = out[i].dtype == DType::f64 || from.dtype == DType::f64 ||
                              (other.data != nullptr && other.dtype == DType::f64);
            if (out[i].size == 0 || wide != std::is_same_v<W, double>) continue;
            list.add({out[i], from, other, {}, {}}, static_cast<std::int32_t>(i));
            if (list.chunks.full()) run();
        }
        if (list.chunks.tensors > 0) run();
    };
    of_type(float{});
    of_type(double{});
}

}  // namespace kernels::cuda
