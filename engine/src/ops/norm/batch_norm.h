#pragma once

#include "tensor/tape.h"

namespace engine {

// Arguments of both beside x and the residual, as an observer of calls sees them.
struct BatchNormTensors {
    Tensor weight, bias, running_mean, running_var;
};
struct BatchNormOptions {
    bool training;
    double momentum, eps;
};

/// (x - mean) / sqrt(var + eps) * weight + bias over channels, x (N, C) or (N, C, ...) of rank
/// 3 to 5; computed
/// in f32 (f64 for f64) and rounded once to x's type. weight, bias and the running statistics are
/// (channels); weight and bias may be undefined (1 and 0), the statistics too when training. With
/// f32 x all are f32, with f64 x f64; with 16-bit x each is f32 or of x's type, else Error(dtype).
/// `training`: the batch's statistics, and running = (1 - momentum) running + momentum batch in
/// place; needs more than one value a channel, else Error(value). Otherwise the running ones.
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum = 0.1, double eps = 1e-5);
/// In the order of PyTorch's functional form: x, running_mean, running_var, weight, bias.
TensorList batch_norm_by_name(const Op& op, const OpArguments& args);
inline constexpr Op batch_norm_op(
    CastPolicy::none,
    "batch_norm(x, running_mean?, running_var?, weight?, bias?; training=False, momentum=0.1, "
    "eps=1e-5)",
    "Not on the list: reads 16 bits, computes its statistics in fp32 and keeps them there.",
    batch_norm_by_name);
/// relu(batch_norm(x) + residual) in one pass, rounded once; residual may be undefined.
Tensor batch_norm_relu(const Tensor& x, const Tensor& residual, const Tensor& weight,
                       const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                       bool training, double momentum = 0.1, double eps = 1e-5);
inline constexpr Op batch_norm_relu_op(
    CastPolicy::none,
    "batch_norm_relu(x, running_mean?, running_var?, weight?, bias?, residual?; training=False, "
    "momentum=0.1, eps=1e-5)",
    "batch_norm, addition and relu in one pass over memory, rounded once.", batch_norm_by_name);

/// A weight or statistic for an x of this type: converted to f32 if it has another 16-bit type, or
/// a narrower one.
Tensor companion(const Tensor& t, const Tensor& x);

}  // namespace engine
