#pragma once

#include "kernels/layer_norm.h"
#include "tensor/tape.h"

// Shared parts of layer norm, RMS norm and group norm: rows that are normalised each by itself.
namespace engine {

/// The parameters beside x as autocast.md#operations-without-an-entry (1.11) allows them: of x's
/// type, or f32 beside a 16-bit x; else Error(dtype) naming both types. Undefined ones pass.
void check_norm_parameters(const Op& info, const Tensor& x,
                           std::initializer_list<Tensor> parameters);

/// y of x's shape; mean and rstd (rows), f32 (f64 for f64), outside the tape; mean undefined for
/// `rms`.
struct RowNorm {
    Tensor y, mean, rstd;
};
/// The kernel of kernels/layer_norm.h over x in row-major order, with its gradient. weight and
/// bias: shape.cols elements in f32 (f64 for f64 x), or undefined. y in `out`: x's type, or f32 for
/// a 16-bit x.
RowNorm row_norm(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const kernels::LayerNormShape& shape, DType out);

/// Its gradients by x and, with `parameters`, by weight and (not for `rms`) bias. Differentiable
/// again, in plain ops.
struct RowNormBackward {
    Tensor dy, x;
    Tensor weight;  ///< or undefined
    Tensor mean, rstd;
    kernels::LayerNormShape shape;
    bool parameters;
    Shape parameter_shape;  ///< of shape.cols elements
};
TensorList row_norm_backward(const RowNormBackward& args);

}  // namespace engine
