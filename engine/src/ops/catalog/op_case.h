#pragma once

#include <map>
#include <string>

#include "amp/recipe.h"
#include "tensor/op.h"
#include "tensor/tensor.h"

namespace engine {

/// One call of an op by name, as `halftone op` reads it.
struct OpCase {
    std::string op;
    std::map<std::string, AttrValue> attrs;
    std::map<std::string, Strides> strides;  ///< by argument: lay it out in memory like this
    std::optional<DType> autocast;           ///< type of the region around the call, if any
    std::optional<Recipe> recipe;  ///< of linear and addmm
    bool grad = false;
    bool grad_grad = false;
    Device device = default_device();
};

/// The results of a call: output, and grad.i and grad_grad.i if requested. `file` holds the
/// arguments 0, 1, ... (0.0, 0.1, ... for a list), grad_output and v.i. Throws Error for an unknown
/// op, a missing tensor, and arguments that the op rejects.
TensorMap run_op_case(const OpCase& request, const TensorMap& file);

}  // namespace engine
