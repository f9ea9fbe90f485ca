#pragma once

#include "tensor/tape.h"

namespace engine {

/// Each sample's channels in num_groups groups, each normalised by its own mean and biased
/// variance, then times weight and plus bias by channel: x (N, C, ...), num_groups divides C;
/// weight and bias (C) or undefined. In a region everything goes to f32. Elsewhere the result has
/// x's type, and the parameters are of it too, or f32 beside a 16-bit x; else Error(dtype).
/// Computed in f32 (f64 for f64), rounded once. Row-major, whatever x's layout.
Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
inline constexpr Op group_norm_op(
    CastPolicy::f32, "group_norm(x, weight?, bias?; num_groups=1, eps=1e-5)",
    "As layer_norm: its sums of squares need the range of fp32 and its deviations the digits.",
    by_name<group_norm>);

/// Each channel of each sample normalised over its own positions: x (N, C, ...) of rank 3 to 5;
/// weight, bias (C) or undefined (1 and 0). `use_input_stats`: the instance's mean and biased
/// variance, and running = (1 - momentum) running + momentum * (mean over the batch of the
/// instances' mean and unbiased variance) in place; needs more than one position, else
/// Error(value). Otherwise the running statistics (C). Computed in f32 (f64 for f64), rounded once
/// to x's type. Types as in batch_norm.
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                     double momentum = 0.1, double eps = 1e-5);
inline constexpr Op instance_norm_op(
    CastPolicy::none,
    "instance_norm(x, running_mean?, running_var?, weight?, bias?; use_input_stats=True, "
    "momentum=0.1, eps=1e-5)",
    "Not on the list, as batch_norm: reads 16 bits and computes its statistics in fp32.",
    by_name<instance_norm>);

}  // namespace engine
