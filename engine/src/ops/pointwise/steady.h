#pragma once

#include "tensor/tape.h"

namespace engine {

// sigmoid and tanh for the slopes of other ops, of a tensor in its wide type. Their derivatives are
// computed from x: computed from y, y (1 - y) and 1 - y^2 cancel where |y| is near 1.
Tensor steady_sigmoid(const Tensor& w);
Tensor steady_tanh(const Tensor& w);
/// 1 - tanh(w)^2
Tensor tanh_slope(const Tensor& w);

}  // namespace engine
