#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo linear_info;

/// x weight^T + bias: x (..., in), weight (out, in), bias (out) or undefined -> (..., out); weight
/// (in) without a bias -> (...).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace engine
