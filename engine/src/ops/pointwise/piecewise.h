#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo elu_info, selu_info, celu_info, leaky_relu_info, hardtanh_info, relu6_info,
    hardsigmoid_info, hardswish_info, threshold_info, prelu_info;

// Activations made of pieces. Where two pieces meet the slope is PyTorch's.

/// x where x > 0, else alpha (exp(x) - 1)
Tensor elu(const Tensor& x, double alpha = 1);
/// elu with the alpha, and times the scale, that keep mean 0 and variance 1 (Klambauer et al.
/// 2017).
Tensor selu(const Tensor& x);
/// x where x > 0, else alpha (exp(x / alpha) - 1). Throws Error(value) for alpha 0.
Tensor celu(const Tensor& x, double alpha = 1);
/// x where x > 0, else negative_slope x
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
/// leaky_relu() from other ops, as on a GPU; the same numbers.
Tensor composed_leaky_relu(const Tensor& x, double negative_slope);
/// x between the bounds; no slope at a bound. Throws Error(value) if min_val > max_val.
Tensor hardtanh(const Tensor& x, double min_val = -1, double max_val = 1);
/// hardtanh between 0 and 6
Tensor relu6(const Tensor& x);
/// (x + 3) / 6 between 0 and 1
Tensor hardsigmoid(const Tensor& x);
/// x * hardsigmoid(x)
Tensor hardswish(const Tensor& x);
/// value where x <= at, else x
Tensor threshold(const Tensor& x, double at, double value);
/// x where x > 0, else weight x. weight: one element, or one for each channel (dimension 1) of x;
/// of x's type (in a region both are cast: policy low).
Tensor prelu(const Tensor& x, const Tensor& weight);

}  // namespace engine
