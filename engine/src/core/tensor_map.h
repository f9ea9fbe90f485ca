#pragma once

#include <map>
#include <string>

#include "core/tensor.h"

namespace engine {

/// Tensors by name, as a file holds them.
using TensorMap = std::map<std::string, Tensor>;

}  // namespace engine
