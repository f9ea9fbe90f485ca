#pragma once

#include <string>

#include "tensor/tensor.h"

namespace engine {

/// A parameter as an optimizer sees it.
struct Parameter {
    std::string name;
    Tensor tensor;
    /// Read by low-policy ops, so a persistent 16-bit copy saves a cast in every step
    /// (decisions.md#low-precision-weights, D6).
    bool autocast_low = false;
};

/// Another name that PyTorch's state_dict has for a tensor that two modules share (tied weights).
struct TensorAlias {
    std::string name;
    std::string of;  ///< the name that it is registered under
};

}  // namespace engine
