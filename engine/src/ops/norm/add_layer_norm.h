#pragma once

#include "tensor/tape.h"

namespace engine {

struct SumAndNorm {
    Tensor sum, normed;
};

/// x + around, and layer_norm() of the sum over its last dimension, in the numbers and types of the
/// two ops, as one node of the tape. One pass over memory each way. Only where
/// can_fuse_add_layer_norm() of the same arguments.
SumAndNorm add_layer_norm(const Tensor& x, const Tensor& around, const Tensor& weight,
                          const Tensor& bias, double eps);
/// Whether nobody observes this thread's operations or forces their types, which needs both ops.
bool can_fuse_add_layer_norm() noexcept;
/// That, and whether the kernel takes these arguments: contiguous and of one shape; x and `around`
/// of one type, or x 16-bit beside f32; not f64, and no 16-bit sum in a region, whose norm is f32;
/// parameters as layer_norm() takes them.
bool can_fuse_add_layer_norm(const Tensor& x, const Tensor& around, const Tensor& weight,
                             const Tensor& bias);

}  // namespace engine
