#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo erfc_info, erfinv_info, exp2_info;

/// 1 - erf(x)
Tensor erfc(const Tensor& x);
/// The y with erf(y) = x: infinite at -1 and 1, NaN beyond.
Tensor erfinv(const Tensor& x);
/// 2 ** x
Tensor exp2(const Tensor& x);

}  // namespace engine
