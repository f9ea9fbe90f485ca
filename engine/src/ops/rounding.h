#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo floor_info, ceil_info, round_info, trunc_info, sign_info, fmod_info,
    remainder_info;

// Their gradient is zero.
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
/// To the nearest whole number, halves to the even one.
Tensor round(const Tensor& x);
/// Towards zero.
Tensor trunc(const Tensor& x);
/// -1, 0 or 1; 0 for NaN.
Tensor sign(const Tensor& x);

// What a division by b leaves over, computed exactly; floating, promotes.
/// a - b trunc(a / b): has the sign of a.
Tensor fmod(const Tensor& a, const Tensor& b);
/// a - b floor(a / b): has the sign of b.
Tensor remainder(const Tensor& a, const Tensor& b);

}  // namespace engine
