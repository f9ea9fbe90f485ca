#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo neg_info, abs_info, square_info, sqrt_info, rsqrt_info, reciprocal_info,
    exp_info, exp2_info, expm1_info, log_info, log1p_info, log2_info, log10_info, erf_info,
    erfc_info, erfinv_info;

Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);
/// Goes through pow, so f32 in a region (autocast.md#operation-lists, 1.9).
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor exp(const Tensor& x);
/// 2 ** x
Tensor exp2(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor erf(const Tensor& x);
/// 1 - erf(x)
Tensor erfc(const Tensor& x);
/// The y with erf(y) = x: infinite at -1 and 1, NaN beyond.
Tensor erfinv(const Tensor& x);

}  // namespace engine
