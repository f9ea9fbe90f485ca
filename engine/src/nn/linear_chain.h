#pragma once

#include <span>

#include "nn/layers.h"

namespace engine {

/// The layers one after another, a relu between each two; small ones as one node of the tape where
/// nobody watches operations. That node belongs to no layer's module.
Tensor linear_chain(std::span<const Linear> layers, const Tensor& x);

}  // namespace engine
