#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo silu_info, mish_info, softplus_info, softsign_info, tanhshrink_info;

/// x * sigmoid(x)
Tensor silu(const Tensor& x);
/// x * tanh(log(1 + exp(x)))
Tensor mish(const Tensor& x);
/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold; never overflows.
Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);
/// x / (1 + |x|)
Tensor softsign(const Tensor& x);
/// x - tanh(x)
Tensor tanhshrink(const Tensor& x);
/// gelu with Phi(x) replaced by (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2; gelu's OpInfo.
Tensor gelu_tanh(const Tensor& x);

}  // namespace engine
