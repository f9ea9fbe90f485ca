#pragma once

#include "tensor/tensor.h"

// Addition of gradients: dense or sparse, of equal or different types.
namespace engine {

/// a + b of one shape, recorded if gradient mode is on. Equal types stay; mixed ones promote.
Tensor add_gradients(const Tensor& a, const Tensor& b);
/// A gradient of an output or a leaf of this type: cast to it if it was left in 16 bits
/// (LowGradients).
Tensor late_cast(const Tensor& gradient, DType type);
/// a + b for an output or a leaf of this type, each as late_cast() gives it.
Tensor sum_of_gradients(const Tensor& a, const Tensor& b, DType type);
/// gradient in another type, recorded if gradient mode is on.
Tensor cast_gradient(const Tensor& gradient, DType dtype);
/// Adds a gradient to the leaf's grad, in the leaf's memory layout, and calls the leaf's hooks. An
/// undefined gradient counts as zero.
void accumulate(const std::shared_ptr<TensorImpl>& leaf, const Tensor& gradient);

}  // namespace engine
