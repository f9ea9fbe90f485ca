#pragma once

#include <string>

#include "core/tensor.h"

namespace engine {

/// A parameter as an optimizer sees it.
struct Parameter {
    std::string name;
    Tensor tensor;
    /// Used by low-policy ops, so that a 16-bit copy kept beside it saves a cast a step (D6).
    bool autocast_low = false;
};

}  // namespace engine
