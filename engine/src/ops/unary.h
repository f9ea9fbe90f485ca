#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo neg_info, abs_info, exp_info, log_info, sqrt_info, rsqrt_info, reciprocal_info,
    square_info, tanh_info, sigmoid_info, relu_info, gelu_info;

Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
/// Goes through pow, so f32 in a region (1.9).
Tensor square(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor relu(const Tensor& x);
/// x * Phi(x), the exact form (gelu_tanh is in ops/activation.h).
Tensor gelu(const Tensor& x);

}  // namespace engine
