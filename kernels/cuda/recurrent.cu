#include <cassert>
#include <cmath>

#include "cuda/convert.cuh"
#include "cuda/device_math.cuh"
#include "cuda/grid_stride.cuh"
#include "shared/recurrent_arrays.h"

namespace kernels::cuda {
namespace {

template <typename W>
__device__ __forceinline__ W logistic(W x) {
    return W{1} / (W{1} + std::exp(-x));
}
template <typename W>
__device__ __forceinline__ W tanh_of(W x) {
    return std::tanh(x);
}
template <typename W>
__device__ __forceinline__ W tanh_slope(W y) {
    return W{1} - y * y;
}
template <typename W>
__device__ __forceinline__ W one_minus(W x) {
    return W{1} - x;
}
template <typename W>
__device__ __forceinline__ W relu_pass(W x, W v) {
    return x <= 0 ? W{0} : v;
}

struct Element {
    template <typename T>
    __device__ __forceinline__ Compute<T> load(const T* p) const {
        return widen(*p);
    }
    template <typename T>
    __device__ __forceinline__ void store(Compute<T> v, T* p) const {
        *p = narrow<T>(v);
    }
};
template <typename T>
__device__ __forceinline__ Compute<T> load_or_zero(const T* p, std::int64_t i,
                                                   const Element& access) {
    return p == nullptr ? Compute<T>{0} : access.load(p + i);
}

#define HALFTONE_FORMULA __device__ __forceinline__
#include "shared/recurrent_cells.inc"
#undef HALFTONE_FORMULA

__device__ __forceinline__ StepColumn column_at(std::int64_t i, RecurrentCell cell,
                                                std::int64_t hidden) {
    return {hidden, i / hidden * gates_of(cell) * hidden + i % hidden, i};
}

template <RecurrentCell cell, typename T>
__global__ void recurrent_forward_kernel(StepArrays<T> s, std::int64_t rows, std::int64_t hidden) {
    for (std::int64_t i = grid_thread(); i < rows * hidden; i += grid_threads())
        forward_column(cell, s, column_at(i, cell, hidden), Element());
}

template <RecurrentCell cell, typename T>
__global__ void recurrent_backward_kernel(StepGradientArrays<T> s, std::int64_t rows,
                                          std::int64_t hidden) {
    for (std::int64_t i = grid_thread(); i < rows * hidden; i += grid_threads())
        gradient_column(cell, s, column_at(i, cell, hidden), Element());
}

/// f(constant of the cell).
template <typename F>
void with_cell(RecurrentCell cell, const F& f) {
    switch (cell) {
        case RecurrentCell::rnn_tanh:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::rnn_tanh>{});
        case RecurrentCell::rnn_relu:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::rnn_relu>{});
        case RecurrentCell::lstm:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::lstm>{});
        case RecurrentCell::gru:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::gru>{});
    }
}

}  // namespace

void recurrent_forward(Array h_new, Array c_new, ConstArray gx, ConstArray gh, ConstArray state,
                       const RecurrentShape& shape, Stream stream) {
    assert(gx.size == shape.rows * shape.hidden * gates_of(shape.cell) && gh.size == gx.size);
    if (gx.size == 0) return;
    with_floating(gx.dtype, [&]<typename T>(T) {
        const auto arrays = step_arrays<T>(h_new, c_new, gx, gh, state);
        with_cell(shape.cell, [&](auto cell) {
            launch("recurrent_forward", recurrent_forward_kernel<cell(), T>,
                   grid_for(shape.rows * shape.hidden), stream, arrays, shape.rows, shape.hidden);
        });
    });
}

void recurrent_backward(Array dgx, Array dgh, Array dstate, ConstArray dh, ConstArray dh_more,
                        ConstArray dc, ConstArray gx, ConstArray gh, ConstArray state,
                        const RecurrentShape& shape, Stream stream) {
    assert(gx.size == shape.rows * shape.hidden * gates_of(shape.cell) && dgx.size == gx.size);
    if (gx.size == 0) return;
    with_floating(gx.dtype, [&]<typename T>(T) {
        const auto arrays =
            step_gradient_arrays<T>(dgx, dgh, dstate, dh, dh_more, dc, gx, gh, state);
        with_cell(shape.cell, [&](auto cell) {
            launch("recurrent_backward", recurrent_backward_kernel<cell(), T>,
                   grid_for(shape.rows * shape.hidden), stream, arrays, shape.rows, shape.hidden);
        });
    });
}

}  // namespace kernels::cuda
