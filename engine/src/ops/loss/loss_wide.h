#pragma once

#include <initializer_list>

#include "ops/loss/loss.h"
#include "tensor/wide.h"

// Helpers of losses that are written in ops.
namespace engine {

/// The attribute `reduction` of a call.
Reduction reduction_of(const OpArguments& args);
/// Common floating type of the operands, in which the loss is returned. Throws Error(dtype).
DType loss_type(const OpInfo& info, std::initializer_list<Tensor> tensors);
/// The type of a loss without an entry that uses an op of the f32 list: f32 in a region if `type`
/// is 16 bits, else `type`.
DType type_through_f32(Device::Kind kind, DType type);
/// `value` in x's place in the graph: the gradient passes to x as it is.
Tensor replaced(const Tensor& x, const Tensor& value);

}  // namespace engine
