#pragma once

#include "core/tape.h"

namespace engine {

/// relu(linear(x, weight, bias)) in the same numbers, as one node that keeps no result between the
/// two. weight (out, in). Only while nobody watches operations (amp/watched.h).
Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace engine
