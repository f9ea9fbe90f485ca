#pragma once

#include <span>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// Statistics of one pass over all gradients (decisions.md#step-never-waits, D4). On the device.
/// The counters refer to the gradients as they are, that is still scaled, as f16 values.
struct GradientStatistics {
    float found_inf;         ///< 0 or 1: a value is not finite
    float abs_max;           ///< largest magnitude (inf or NaN if one is)
    double sum_squares;      ///< of the values as given
    std::int64_t nonzero;    ///< values that are not 0
    std::int64_t to_zero;    ///< non-zero values that f16 would flush to 0 (magnitude <= 2^-25)
    std::int64_t subnormal;  ///< that f16 holds as subnormals
    std::int64_t overflow;   ///< not finite, or >= 65520 in magnitude
    std::int64_t total;
    float f16_abs_max;  ///< abs_max of the f16 gradients alone; 0: there are none
};

/// Reads every gradient once and fills *gradient_statistics. Gradients f32, f16, bf16 or f64,
/// mixed.
using MultiTensorGradientCheck = void(GradientStatistics* gradient_statistics,
                                      std::span<const ConstArray> grads, Stream stream);
HALFTONE_KERNEL(MultiTensorGradientCheck, multi_tensor_gradient_check);

/// grads[i] *= *inv_scale, which is on the device (f32 product for 16-bit types, then rounded; f64
/// in f64), in place; *found_inf = 1 where an incoming value is not finite (never set back to 0).
/// inv_scale exactly 1 leaves every bit. All elements are written.
using MultiTensorUnscale = void(std::span<const Array> grads, const float* inv_scale,
                                float* found_inf, Stream stream);
HALFTONE_KERNEL(MultiTensorUnscale, multi_tensor_unscale);

/// out[i] = a * x[i] + b * y[i], tensor by tensor; y may be an empty list: then out = a * x. In f64
/// where out, x or y is, else in f32 with one rounding to out's type. *found_inf = 1 where a value
/// of x or y is not finite. out may be x or y. Sizes agree.
using MultiTensorAxpby = void(std::span<const Array> out, double a, std::span<const ConstArray> x,
                              double b, std::span<const ConstArray> y, float* found_inf,
                              Stream stream);
HALFTONE_KERNEL(MultiTensorAxpby, multi_tensor_axpby);

/// *total = the L2 norm of all, norms[i] (may be null) that of tensor i, on the device. The squares
/// are summed in f64 in a fixed order.
using MultiTensorL2Norm = void(float* total, float* norms, std::span<const ConstArray> tensors,
                               Stream stream);
HALFTONE_KERNEL(MultiTensorL2Norm, multi_tensor_l2_norm);

/// *result, on the device, becomes the largest magnitude in f16 tensors where it is smaller; NaN
/// counts as the largest. abs_max (elementwise.h) of all in one launch.
using MultiTensorAbsMax = void(float* result, std::span<const ConstArray> tensors, Stream stream);
HALFTONE_CUDA_KERNEL(MultiTensorAbsMax, multi_tensor_abs_max);

}  // namespace kernels
