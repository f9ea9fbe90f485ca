#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo relu_info, sigmoid_info, tanh_info, gelu_info, silu_info, mish_info,
    softplus_info, softsign_info, tanhshrink_info, log_sigmoid_info;

Tensor relu(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);
/// x * Phi(x), the exact form.
Tensor gelu(const Tensor& x);
/// gelu with Phi(x) replaced by (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2; gelu's OpInfo.
Tensor gelu_tanh(const Tensor& x);

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
/// log(1 / (1 + exp(-x))), without overflow
Tensor log_sigmoid(const Tensor& x);

/// 0 where y <= 0, else dy: relu's gradient, y its result. Linear in dy, flat in y. A NaN lets dy
/// through, as in PyTorch.
Tensor relu_backward(const Tensor& dy, const Tensor& y);

}  // namespace engine
