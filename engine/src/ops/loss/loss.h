#pragma once

#include <initializer_list>
#include <string>

#include "tensor/cast.h"
#include "tensor/tape.h"

namespace engine {

extern const OpInfo mse_loss_info, l1_loss_info, binary_cross_entropy_with_logits_info,
    binary_cross_entropy_info;

/// How the losses of the elements become one.
enum class Reduction { none, mean, sum };
/// "none", "mean" or "sum". Throws Error(value).
Reduction reduction_from_name(const std::string& name);

/// (x - target)^2
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// |x - target|
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// (1 - t) x - (1 + (pos_weight - 1) t) log_sigmoid(x), times weight; both weights optional.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const Tensor& weight = {}, const Tensor& pos_weight = {},
                                        Reduction reduction = Reduction::mean);
/// -(t log(x) + (1 - t) log(1 - x)), times weight; logs are at least -100. x in [0, 1], else
/// Error(value), on a GPU at the next read. Unsafe under autocast: Error(state) in a region
/// (autocast.md#banned-operation, 1.8).
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);

/// losses, or their mean or sum, in their own type.
Tensor reduced(const Tensor& losses, Reduction reduction);

// Helpers of losses that are written in ops.

/// The attribute `reduction` of a call.
Reduction read_reduction(const OpArguments& args);
/// Common floating type of the operands, in which the loss is returned. Throws Error(dtype).
DType loss_type(const OpInfo& info, std::initializer_list<Tensor> tensors);
/// The type of a loss without an entry that uses an op of the f32 list: f32 in a region if `type`
/// is 16 bits, else `type`.
DType type_through_f32(Device::Kind kind, DType type);
/// `value` in x's place in the graph: the gradient passes to x as it is.
Tensor replaced(const Tensor& x, const Tensor& value);

}  // namespace engine
