#pragma once

#include "nn/layers.h"

namespace engine {

/// relu(layer(x)). The relu does not belong to the layer's module; where nobody watches operations
/// the two are one node of the tape, which does.
Tensor linear_relu(const Linear& layer, const Tensor& x);

}  // namespace engine
