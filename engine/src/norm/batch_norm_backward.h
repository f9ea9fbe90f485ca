#pragma once

#include "core/tape.h"
#include "kernels/batch_norm.h"

namespace engine {

/// Mean and 1 / sqrt(var + eps) by channel, f32 (f64 for f64).
struct BatchNormStatistics {
    Tensor mean, invstd;
};

struct BatchNormBackward {
    Tensor dy, x;
    Tensor weight;  ///< or undefined
    Tensor y;       ///< the output, where a relu came last; else undefined
    BatchNormStatistics statistics;
    kernels::BatchNormShape shape;
    bool training;
    bool with_residual;
};

/// Gradients of a batch norm by x, weight, bias and, if asked, residual: one pass. With g = dy
/// where y > 0: dbias = sum g, dweight = sum g xhat, dx = weight invstd (g - mean g - xhat mean(g
/// xhat)), or weight invstd g for running statistics; dresidual = g. Differentiable again, in plain
/// ops.
TensorList batch_norm_backward(const BatchNormBackward& args);

}  // namespace engine
