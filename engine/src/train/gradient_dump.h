#pragma once

#include <string>

#include "core/tensor_map.h"
#include "models/model.h"

namespace engine {

/// Writes the loss and the unscaled f32 gradients of a step to a safetensors file ("loss",
/// "grad.<name>"). `scale`: the loss scale in the gradients. Throws Error(io).
void dump_gradients(const std::string& path, const Model& model, double loss, double scale);

}  // namespace engine
