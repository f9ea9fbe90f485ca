#pragma once

#include "tensor/tape.h"

namespace engine {

// Activations made of pieces. Where two pieces meet the slope is PyTorch's.

/// x where x > 0, else alpha (exp(x) - 1)
Tensor elu(const Tensor& x, double alpha = 1);
inline constexpr Op elu_op(CastPolicy::none, "elu(x; alpha=1)", no_entry, by_name<elu>);
/// elu with the alpha, and times the scale, that keep mean 0 and variance 1 (Klambauer et al.
/// 2017).
Tensor selu(const Tensor& x);
inline constexpr Op selu_op(CastPolicy::none, "selu(x)", no_entry, by_name<selu>);
/// x where x > 0, else alpha (exp(x / alpha) - 1). Throws Error(value) for alpha 0.
Tensor celu(const Tensor& x, double alpha = 1);
inline constexpr Op celu_op(CastPolicy::none, "celu(x; alpha=1)", no_entry, by_name<celu>);
/// x where x > 0, else negative_slope x
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
inline constexpr Op leaky_relu_op(CastPolicy::none, "leaky_relu(x; negative_slope=0.01)", no_entry,
                                  by_name<leaky_relu>);
/// leaky_relu() from other ops, as on a GPU; the same numbers.
Tensor composed_leaky_relu(const Tensor& x, double negative_slope);
/// x between the bounds; no slope at a bound. Throws Error(value) if min_val > max_val.
Tensor hardtanh(const Tensor& x, double min_val = -1, double max_val = 1);
inline constexpr Op hardtanh_op(CastPolicy::none, "hardtanh(x; min_val=-1, max_val=1)", no_entry,
                                by_name<hardtanh>);
/// hardtanh between 0 and 6
Tensor relu6(const Tensor& x);
inline constexpr Op relu6_op(CastPolicy::none, "relu6(x)", no_entry, by_name<relu6>);
/// (x + 3) / 6 between 0 and 1
Tensor hardsigmoid(const Tensor& x);
inline constexpr Op hardsigmoid_op(CastPolicy::none, "hardsigmoid(x)", no_entry,
                                   by_name<hardsigmoid>);
/// x * hardsigmoid(x)
Tensor hardswish(const Tensor& x);
inline constexpr Op hardswish_op(CastPolicy::none, "hardswish(x)", no_entry, by_name<hardswish>);
/// value where x <= at, else x
Tensor threshold(const Tensor& x, double at, double value);
inline constexpr Op threshold_op(CastPolicy::none, "threshold(x; threshold, value)", no_entry,
                                 by_name<threshold>);
/// x where x > 0, else weight x. weight: one element, or one for each channel (dimension 1) of x;
/// of x's type (in a region both are cast: policy low).
Tensor prelu(const Tensor& x, const Tensor& weight);
inline constexpr Op prelu_op(
    CastPolicy::low, "prelu(x, weight)",
    "Listed with the layers that have weights: its weight is cast to 16 bits along with x.",
    by_name<prelu>);

}  // namespace engine
