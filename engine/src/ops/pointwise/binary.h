#pragma once

#include <initializer_list>

#include "tensor/tape.h"

namespace engine {

// Element-wise, with broadcasting and the promotion of autocast.md#operations-without-an-entry
// (1.11): a 0-d tensor does not widen one with dimensions.
extern const OpInfo add_info, sub_info, mul_info, div_info, maximum_info, minimum_info, pow_info,
    atan2_info;

/// The second operand of pow: the tensor, or the number "exponent". Error(value) for a negative
/// one of integers.
Tensor exponent_of(const OpArguments& args);

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
/// a + alpha * b, rounded once. Beside integers alpha must be whole.
Tensor add_scaled(const Tensor& a, const Tensor& b, double alpha);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
/// NaN if either is NaN; the gradient is shared half and half where they are equal.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Tensor& b);
Tensor atan2(const Tensor& y, const Tensor& x);

Tensor mul(const Tensor& a, double b);
Tensor add(const Tensor& a, double b);
Tensor pow(const Tensor& a, double b);

}  // namespace engine
