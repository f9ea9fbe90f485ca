#pragma once

#include <functional>

#include "tensor/tape.h"

namespace engine::detail {

/// Gradients of an op that is itself the gradient of another op, `forward`, computed in f32 (f64
/// for f64) on a separate tape. A third derivative is not supported.
///
/// The op must have saved all of its `count` arguments: first the gradients of forward's `outputs`
/// outputs (undefined: 0), then forward's inputs, of which the first must be defined. Its own
/// outputs are the gradients of the defined inputs, in their order.
///
/// Returns the gradients of all saved arguments, for `grads` of the op's outputs. `forward` takes
/// the inputs in the wide type and returns outputs of it.
TensorList second_derivative(std::span<const Tensor> grads, const Saved& saved, int count,
                             int outputs,
                             const std::function<TensorList(const TensorList&)>& forward);

}  // namespace engine::detail
