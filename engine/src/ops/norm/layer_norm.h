#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* squares_and_digits =
    "Sums of squares overflow fp16, and small deviations are lost in its rounding: fp32 "
    "throughout.";

// Over the last dimensions of x, which must be `normalized_shape`, else Error(shape); weight and
// bias of that shape, or undefined (1 and 0). Statistics in f32 (f64 for f64), one rounding of the
// result. In a region everything goes to f32. Elsewhere the result has x's type, and the parameters
// are of it too, or f32 beside a 16-bit x; else Error(dtype).

/// (x - mean) / sqrt(var + eps) * weight + bias, biased variance.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
/// {layer_norm(), mean, 1 / sqrt(var + eps)}, the last two of x's shape with ones for
/// normalized_shape, in f32 (f64 for f64) and without a gradient.
TensorList native_layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                             const Tensor& bias, double eps);
inline constexpr Op native_layer_norm_op(
    CastPolicy::f32, "native_layer_norm(x, weight?, bias?; normalized_shape, eps=1e-5)",
    squares_and_digits, by_name<native_layer_norm>);
/// x / sqrt(mean(x^2) + eps) * weight; without eps that of the type it computes in: 2^-23, 2^-52
/// for f64.
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = {});
inline constexpr Op rms_norm_op(CastPolicy::f32, "rms_norm(x, weight?; normalized_shape, eps=None)",
                                squares_and_digits, by_name<rms_norm>);

struct SumAndNorm {
    Tensor sum, normed;
};

/// x + around, and layer_norm() of the sum over its last dimension, in the numbers and types of the
/// two ops, as one node of the tape. One pass over memory each way. Only where
/// can_fuse_add_layer_norm() of the same arguments.
SumAndNorm add_layer_norm(const Tensor& x, const Tensor& around, const Tensor& weight,
                          const Tensor& bias, double eps);
/// Whether no types are forced, which needs both ops, and the kernel takes these arguments:
/// contiguous and of one shape; x and `around` of one type, or x 16-bit beside f32; not f64, and no
/// 16-bit sum in a region, whose norm is f32; parameters as layer_norm() takes them.
bool can_fuse_add_layer_norm(const Tensor& x, const Tensor& around, const Tensor& weight,
                             const Tensor& bias);
inline constexpr Op layer_norm_op(CastPolicy::f32,
                                  "layer_norm(x, weight?, bias?; normalized_shape, eps=1e-5)",
                                  squares_and_digits, by_name<layer_norm>);

}  // namespace engine
