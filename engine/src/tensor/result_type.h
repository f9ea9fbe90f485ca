#pragma once

#include <initializer_list>

#include "tensor/op.h"
#include "tensor/tensor.h"

// The types of results without autocast (autocast.md#operations-without-an-entry, 1.11). A plain
// number and a 0-d tensor do not widen a tensor with dimensions.
namespace engine {

/// A plain number as the other operand of an op on x. Unlike a 0-d tensor it does not even widen
/// another 0-d tensor of its kind.
Tensor scalar_like(const Tensor& x, double value);
/// 0 as a 0-d tensor of x's type.
Tensor zero_like(const Tensor& x);
/// A plain integer as the other operand of an op on integers.
Tensor integer_like(const Tensor& x, std::int64_t value);
/// An attribute, which must be there, as a plain number beside x: an integer beside integers.
Tensor number_like(const Tensor& x, const OpArguments& args, const std::string& attr);
/// integer_like of a number given as a double. Error(value) naming `info` if it has a fraction.
Tensor whole_number_like(const Op& info, const Tensor& x, double value);
/// Type of an op on both without autocast (autocast.md#operations-without-an-entry, 1.11).
DType result_type(const Tensor& a, const Tensor& b);
/// The common type of several: 0-d tensors only count if no tensor with dimensions has their kind.
DType result_type(std::initializer_list<Tensor> tensors);

}  // namespace engine
