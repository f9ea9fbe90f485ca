#pragma once

#include "tensor/tape.h"

namespace engine {

/// 0 where y <= 0, else dy: relu's gradient, y its result. Linear in dy, flat in y. A NaN lets dy
/// through, as in PyTorch.
Tensor relu_backward(const Tensor& dy, const Tensor& y);

}  // namespace engine
