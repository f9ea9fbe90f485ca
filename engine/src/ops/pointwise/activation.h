#pragma once

#include "tensor/tape.h"

namespace engine {

Tensor relu(const Tensor& x);
inline constexpr Op relu_op(CastPolicy::none, "relu(x)", no_entry, by_name<relu>);
Tensor sigmoid(const Tensor& x);
inline constexpr Op sigmoid_op(CastPolicy::none, "sigmoid(x)", no_entry, by_name<sigmoid>);
Tensor tanh(const Tensor& x);
inline constexpr Op tanh_op(CastPolicy::none, "tanh(x)", no_entry, by_name<tanh>);
/// x * Phi(x), the exact form.
Tensor gelu(const Tensor& x);
TensorList run_gelu(const Op& op, const OpArguments& args);
inline constexpr Op gelu_op(CastPolicy::none, "gelu(x; approximate='none')", no_entry, run_gelu);
/// gelu with Phi(x) replaced by (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2; gelu's Op.
Tensor gelu_tanh(const Tensor& x);

/// x * sigmoid(x)
Tensor silu(const Tensor& x);
inline constexpr Op silu_op(CastPolicy::none, "silu(x)", no_entry, by_name<silu>);
/// x * tanh(log(1 + exp(x)))
Tensor mish(const Tensor& x);
inline constexpr Op mish_op(CastPolicy::none, "mish(x)", no_entry, by_name<mish>);
/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold; never overflows.
Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);
inline constexpr Op softplus_op(CastPolicy::f32, "softplus(x; beta=1, threshold=20)",
                                "The exp inside overflows fp16 above 11.09.", by_name<softplus>);
/// x / (1 + |x|)
Tensor softsign(const Tensor& x);
inline constexpr Op softsign_op(CastPolicy::none, "softsign(x)", no_entry, by_name<softsign>);
/// x - tanh(x)
Tensor tanhshrink(const Tensor& x);
inline constexpr Op tanhshrink_op(CastPolicy::none, "tanhshrink(x)", no_entry, by_name<tanhshrink>);
/// log(1 / (1 + exp(-x))), without overflow
Tensor log_sigmoid(const Tensor& x);
inline constexpr Op log_sigmoid_op(CastPolicy::none, "logsigmoid(x)", no_entry,
                                   by_name<log_sigmoid>);

/// 0 where y <= 0, else dy: relu's gradient, y its result. Linear in dy, flat in y. A NaN lets dy
/// through, as in PyTorch.
Tensor relu_backward(const Tensor& dy, const Tensor& y);

}  // namespace engine
