#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo group_norm_info;

/// Each sample's channels in num_groups groups, each normalised by its own mean and biased
/// variance, then times weight and plus bias by channel: x (N, C, ...), num_groups divides C;
/// weight and bias (C) or undefined. In a region everything goes to f32. Elsewhere the result has
/// x's type, and the parameters are of it too, or f32 beside a 16-bit x; else Error(dtype).
/// Computed in f32 (f64 for f64), rounded once. Row-major, whatever x's layout.
Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

extern const OpInfo instance_norm_info;

/// Each channel of each sample normalised over its own positions: x (N, C, ...) of rank 3 to 5;
/// weight, bias (C) or undefined (1 and 0). `use_input_stats`: the instance's mean and biased
/// variance, and running = (1 - momentum) running + momentum * (mean over the batch of the
/// instances' mean and unbiased variance) in place; needs more than one position, else
/// Error(value). Otherwise the running statistics (C). Computed in f32 (f64 for f64), rounded once
/// to x's type. Types as in batch_norm.
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                     double momentum = 0.1, double eps = 1e-5);

}  // namespace engine
