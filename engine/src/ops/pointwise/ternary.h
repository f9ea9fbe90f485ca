#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo addcmul_info, addcdiv_info, lerp_info;

// Element-wise, with broadcasting; one rounding of the result and of each gradient.

/// x + value * a * b; floating, promotes.
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
/// x + value * a / b; floating, promotes.
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
/// x + weight * (end - x), exactly x at weight 0 and end at 1. All of one type
/// (autocast.md#operations-without-an-entry, 1.11), else Error(dtype), in a region too.
Tensor lerp(const Tensor& x, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& x, const Tensor& end, double weight);

}  // namespace engine
