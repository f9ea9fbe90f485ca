#pragma once

#include "models/model.h"

namespace engine {

/// On a GPU, moves the weights of convolutions of images into channels last, (K, R, S, C) in
/// memory, which is the only order that cuDNN takes. An optimizer that is made afterwards keeps its
/// state, the gradients and the 16-bit copies in the same order, so no step permutes a weight.
/// Shapes and saved files do not change. On a CPU: nothing.
void lay_out_weights(const Model& model);

}  // namespace engine
