#pragma once

#include "tensor/tensor.h"

namespace engine {

/// For gradient functions: lets the result overwrite the memory of `kept`, a saved tensor that the
/// function has read and holds one handle to. Returns it outside any graph; counts as a write.
/// Undefined where the old contents may still be read: by a later pass over the graph, by the
/// gradient of this gradient, through another handle or view, or by an op observer.
Tensor take_saved(const Tensor& kept);

/// Hands out the memory of a gradient that the function was given: undefined where anyone but the
/// backward pass holds it.
Tensor take_gradient(const Tensor& given);

}  // namespace engine
