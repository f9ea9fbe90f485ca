#pragma once

#include "tensor/tape.h"

namespace engine {

/// relu(linear(x, weight, bias)) in the same numbers, as one node that keeps no result between the
/// two. weight (out, in). Only where can_fuse_linear_relu().
Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias);
/// Whether nobody observes this thread's operations or forces their types, which needs both.
bool can_fuse_linear_relu() noexcept;

}  // namespace engine
