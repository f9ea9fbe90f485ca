#pragma once

#include <vector>

#include "models/model.h"
#include "tensor/parameter.h"

namespace engine {

/// On a GPU, moves the weights of convolutions of images into channels last, (K, R, S, C) in
/// memory, which is the only order that cuDNN takes. An optimizer that is made afterwards keeps its
/// state, the gradients and the 16-bit copies in the same order, so no step permutes a weight.
/// Shapes and saved files do not change. On a CPU: nothing.
void lay_out_weights(const Model& model);

/// On a GPU, moves the weights of each recurrent network among the parameters into one block as
/// cuDNN takes them, so that no step and no evaluation copies them there; or their 16-bit copies
/// (decisions.md#low-precision-weights, D6) if they have some, which autocast reads in their place.
/// For the parameters of one optimizer, once they have those copies, and before anything is
/// recorded: a network of which a part is missing, because it is frozen or another optimizer's,
/// gains nothing. Shapes, values and saved files do not change. On a CPU: nothing.
void lay_out_recurrent_weights(const std::vector<Parameter>& parameters);

}  // namespace engine
