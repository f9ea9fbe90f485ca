#pragma once

#include "core/autograd.h"

// Between the files of the tape; not for ops.
namespace engine::detail {

/// The node (or a leaf's accumulator) behind a tensor; null if it wants no gradient.
Edge edge_of(const Tensor& tensor);
/// a + b of one shape, recorded if gradient mode is on. Equal types stay; mixed ones promote.
Tensor add_gradients(const Tensor& a, const Tensor& b);
/// A copy of gradient in the leaf's memory layout, recorded if gradient mode is on.
Tensor copy_gradient(const Tensor& gradient, const Tensor& leaf);
/// gradient in another type, recorded if gradient mode is on.
Tensor cast_gradient(const Tensor& gradient, DType dtype);

}  // namespace engine::detail
