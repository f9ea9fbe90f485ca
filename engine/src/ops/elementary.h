#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo expm1_info, log1p_info, log2_info, log10_info, sin_info, cos_info, erf_info,
    clamp_info;

Tensor expm1(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor erf(const Tensor& x);
/// min(max(x, low), high); a bound that is not given is not applied. The gradient passes where x is
/// within the bounds, not at them.
Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high);

}  // namespace engine
