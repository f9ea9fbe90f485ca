#pragma once

#include <initializer_list>

#include "core/autograd.h"

namespace engine {

// Element-wise, with broadcasting and the promotion of 1.11: a 0-d tensor does not widen one with
// dimensions.
extern const OpInfo add_info, sub_info, mul_info, div_info, maximum_info, minimum_info, pow_info,
    atan2_info;

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
/// a + alpha * b, rounded once.
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

/// A plain number as the other side of an op on x: unlike a 0-d tensor it does not even widen
/// another 0-d one of its kind.
Tensor number_beside(const Tensor& x, double value);
/// Type of an op on both without autocast (1.11).
DType result_type(const Tensor& a, const Tensor& b);
/// The same of several: tensors without dimensions count only where no other is of their kind.
DType result_type(std::initializer_list<Tensor> tensors);
/// Sums x down to a shape that broadcasts to x's: the gradient of a broadcast.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace engine
