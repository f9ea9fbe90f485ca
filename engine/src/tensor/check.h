#pragma once

#include <initializer_list>

#include "tensor/tape.h"

// Checks that many ops share. They throw Error(dtype) or Error(shape) naming the op and what was
// wrong.
namespace engine {

/// Ops that need equal types (autocast.md#operations-without-an-entry, 1.11): the tensors that are
/// there have one floating type.
DType one_type(const Op& info, std::initializer_list<Tensor> tensors);
/// Checks tensors of any type: all defined ones must have the type of the first.
void same_type(const Op& info, std::initializer_list<Tensor> tensors);
/// A floating type.
void check_floating(const Op& info, const Tensor& x);
/// `ok`, else Error(shape) with the two shapes.
void check_shapes(const Op& info, bool ok, const Tensor& a, const Tensor& b);
void check_rank(const Op& info, const Tensor& x, int rank);

}  // namespace engine
