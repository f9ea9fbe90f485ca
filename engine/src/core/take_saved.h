#pragma once

#include "core/tensor.h"

namespace engine {

/// For gradient functions: the memory of `kept`, a saved tensor that the function has read and
/// holds one handle to, for its result to be written over, outside any graph. Undefined where what
/// it holds may still be read: by a later pass over the graph or the gradient of this gradient, by
/// whoever else holds the tensor or its memory, or by an observer of the ops. Counts as a write.
Tensor take_saved(const Tensor& kept);

}  // namespace engine
