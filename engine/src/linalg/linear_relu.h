#pragma once

#include "core/tape.h"

namespace engine {

/// relu(linear(x, weight, bias)) in the same numbers, as one node that keeps no result between the
/// two. weight (out, in). Only where may_join_relu().
Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias);
/// Whether nobody on this thread watches operations or forces their types, so that nobody can tell.
bool may_join_relu() noexcept;

}  // namespace engine
