#pragma once

#include <optional>

#include "tensor/tape.h"

namespace engine {

extern const OpInfo floor_info, ceil_info, round_info, trunc_info, sign_info, clamp_info, fmod_info,
    remainder_info;

// Their gradient is zero.
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
/// Rounds to the nearest integer, halves to the even one.
Tensor round(const Tensor& x);
/// Towards zero.
Tensor trunc(const Tensor& x);
/// -1, 0 or 1; 0 for NaN.
Tensor sign(const Tensor& x);

/// min(max(x, low), high); a bound that is not given is not applied. The gradient passes where x is
/// within the bounds, not at them.
Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high);

// The remainder of a division by b, computed exactly; floating, promotes. fmod is a - b trunc(a /
// b) and has the sign of a.
Tensor fmod(const Tensor& a, const Tensor& b);
/// a - b floor(a / b): has the sign of b.
Tensor remainder(const Tensor& a, const Tensor& b);

}  // namespace engine
