#pragma once

#include <map>
#include <string>

#include "tensor/tensor.h"

namespace engine {

/// Tensors by name, as a file holds them.
using TensorMap = std::map<std::string, Tensor>;

}  // namespace engine
