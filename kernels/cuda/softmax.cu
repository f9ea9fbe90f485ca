#include "kernels/softmax.h"

#include <cassert>
#include <cmath>

#include "cuda/rows.cuh"

namespace kernels::cuda {
namespace {

template <int team, typename To, typename From>
__global__ void softmax_forward_kernel(To* y, const From* x, std::int64_t rows, std::int64_t cols,
                                       SoftmaxForm form) {
    using W = Compute<From>;
    const bool log = form == SoftmaxForm::log;
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const From* in = x + row * cols;
        RowScale<W> scale = row_scale<team>(in, cols, thread);
        // Nothing but -inf adds nothing at all: x - 0 is -inf still, its exponential 0.
        if (form == SoftmaxForm::masked && scale.sum == 0) scale = {0, 1};
        const W log_sum = log ? std::log(scale.sum) : W{0};
        map_row<team>(y + row * cols, in, cols, thread, [&](From v, std::int64_t) {
            const W shifted = widen(v) - scale.max;
            return narrow<To>(log ? shifted - log_sum : std::exp(shifted) / scale.sum);
        });
    });
}

/// Sum of dy, or of dy y, over the row.
template <int team, typename T>
__device__ __forceinline__ Compute<T> row_dot(const T* dy, const T* y, std::int64_t cols,
                                              bool of_dy_alone, int thread) {
    using W = Compute<T>;
    constexpr int width = pack_width<T>;
    const bool packed = fits_packs<width>(dy) && fits_packs<width>(y);
    W sum = 0;
    for_each_part<team, width>(cols, packed, thread, [&](std::int64_t at, auto wide) {
        const auto left = load_pack<wide()>(dy + at);
        const auto right = load_pack<wide()>(y + at);
        W part = 0;
#pragma unroll
        for (int k = 0; k < wide(); ++k)
            part += widen(left.at[k]) * (of_dy_alone ? W{1} : widen(right.at[k]));
        sum += part;
    });
    return team_reduce<team>(sum, Sum{});
}

template <int team, typename To, typename T>
__global__ void softmax_backward_kernel(To* dx, const T* dy, const T* y, std::int64_t rows,
                                        std::int64_t cols, bool log) {
    using W = Compute<T>;
    constexpr int width = pack_width<To, T>;
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const T *gradient = dy + row * cols, *output = y + row * cols;
        To* result = dx + row * cols;
        const W sum = row_dot<team>(gradient, output, cols, log, thread);
        const bool packed =
            fits_packs<width>(gradient) && fits_packs<width>(output) && fits_packs<width>(result);
        for_each_part<team, width>(cols, packed, thread, [&](std::int64_t at, auto wide) {
            const auto gradients = load_pack<wide()>(gradient + at);
            const auto outputs = load_pack<wide()>(output + at);
            Pack<To, wide()> results;
#pragma unroll
            for (int k = 0; k < wide(); ++k) {
                const W g = widen(gradients.at[k]), out = widen(outputs.at[k]);
                results.at[k] = narrow<To>(log ? g - std::exp(out) * sum : out * (g - sum));
            }
            store_pack(result + at, results);
        });
    });
}

template <typename To, typename From>
void start_forward(Array y, ConstArray x, std::int64_t rows, std::int64_t cols, SoftmaxForm form,
                   Stream stream) {
    with_team(cols, [&](auto team) {
        launch("softmax_forward", softmax_forward_kernel<team(), To, From>,
               grid_of_rows<team()>(rows), stream, static_cast<To*>(y.data),
               static_cast<const From*>(x.data), rows, cols, form);
    });
}

template <typename To, typename T>
void start_backward(Array dx, ConstArray dy, ConstArray y, std::int64_t rows, std::int64_t cols,
                    bool log, Stream stream) {
    with_team(cols, [&](auto team) {
        launch("softmax_backward", softmax_backward_kernel<team(), To, T>,
               grid_of_rows<team()>(rows), stream, static_cast<To*>(dx.data),
               static_cast<const T*>(dy.data), static_cast<const T*>(y.data), rows, cols, log);
    });
}

}  // namespace

void softmax_forward(Array y, ConstArray x, std::int64_t rows, std::int64_t cols, SoftmaxForm form,
                     Stream stream) {
    assert(x.size == rows * cols && y.size == x.size);
    assert(y.dtype == x.dtype || y.dtype == DType::f32);
    if (x.size == 0) return;
    with_floating(x.dtype, [&]<typename From>(From) {
        if (y.dtype == x.dtype)
            start_forward<From, From>(y, x, rows, cols, form, stream);
        else if constexpr (sizeof(From) == 2)
            start_forward<float, From>(y, x, rows, cols, form, stream);
        else
            throw DeviceError("softmax_forward: y is neither of x's dtype nor f32");
    });
}

void softmax_backward(Array dx, ConstArray dy, ConstArray y, std::int64_t rows, std::int64_t cols,
                      bool log, Stream stream) {
    assert(y.size == rows * cols && dx.size == y.size && dy.dtype == y.dtype);
    if (y.size == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        if (dx.dtype == DType::f16)
            start_backward<Half, T>(dx, dy, y, rows, cols, log, stream);
        else if (dx.dtype == DType::bf16)
            start_backward<BFloat16, T>(dx, dy, y, rows, cols, log, stream);
        else if (dx.dtype != y.dtype)
            throw DeviceError("softmax_backward: dx is neither of y's dtype nor of 16 bits");
        else if constexpr (sizeof(T) > 2)
            start_backward<T, T>(dx, dy, y, rows, cols, log, stream);
    });
}

}  // namespace kernels::cuda
