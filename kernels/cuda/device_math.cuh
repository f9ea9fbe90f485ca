#pragma once

#include <cmath>

#include "cuda/convert.cuh"
#include "cuda/launch.cuh"

namespace kernels::cuda {

/// a * b + c; one rounding in f32, as the CPU twins' vector loops have it, two in f64.
__device__ __forceinline__ float multiply_add(float a, float b, float c) {
    return std::fma(a, b, c);
}
__device__ __forceinline__ double multiply_add(double a, double b, double c) { return a * b + c; }

/// NaN if either is.
template <typename W>
__device__ __forceinline__ W larger(W a, W b) {
    return a != a || a > b ? a : b;
}
template <typename W>
__device__ __forceinline__ W smaller(W a, W b) {
    return a != a || a < b ? a : b;
}
template <typename W>
__device__ __forceinline__ W absolute(W a) {
    return std::fabs(a);
}

/// f(T{}) with the floating type of dtype: the device's with_floating.
template <typename F>
__device__ __forceinline__ void as_floating(DType dtype, const F& f) {
    if (dtype == DType::f32)
        f(float{});
    else if (dtype == DType::f16)
        f(Half{});
    else if (dtype == DType::bf16)
        f(BFloat16{});
    else
        f(double{});
}

}  // namespace kernels::cuda
