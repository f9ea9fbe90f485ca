#include "kernels/elementwise.h"

#include <cassert>
#include <cmath>

#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "shared/elementwise_formulas.h"

namespace kernels::cuda {
namespace {

__device__ __forceinline__ float log_sigmoid_of(float x) {
    return formula::minimum(x, 0.0f) - formula::log1p(formula::exp(-formula::abs(x)));
}

__global__ void logits_loss_kernel(float* losses, const float* x, const float* target,
                                   std::int64_t n) {
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads())
        losses[i] = (-target[i] + 1.0f) * x[i] - log_sigmoid_of(x[i]);
}

__global__ void logits_gradient_kernel(float* dx, Operand<float> dy, const float* x,
                                       const float* target, std::int64_t n) {
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const float gradient = dy.one ? *dy.data : dy.data[i];
        dx[i] = gradient * (-target[i] + 1.0f) + -gradient * formula::sigmoid(-x[i]);
    }
}

}  // namespace

void logits_loss(Array losses, ConstArray x, ConstArray target, Stream stream) {
    assert(losses.dtype == DType::f32 && x.dtype == DType::f32 && target.dtype == DType::f32);
    if (losses.size == 0) return;
    launch("logits_loss", logits_loss_kernel, grid_for(losses.size), stream,
           static_cast<float*>(losses.data), static_cast<const float*>(x.data),
           static_cast<const float*>(target.data), losses.size);
}

void logits_loss_backward(Array dx, ConstArray dy, ConstArray x, ConstArray target, Stream stream) {
    assert(dx.dtype == DType::f32 && dy.dtype == DType::f32);
    assert(dy.size == dx.size || dy.size == 1);
    if (dx.size == 0) return;
    launch("logits_loss_backward", logits_gradient_kernel, grid_for(dx.size), stream,
           static_cast<float*>(dx.data), operand<float>(dy), static_cast<const float*>(x.data),
           static_cast<const float*>(target.data), dx.size);
}

}  // namespace kernels::cuda
