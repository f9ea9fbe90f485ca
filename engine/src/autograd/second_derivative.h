#pragma once

#include <functional>

#include "core/tape.h"

namespace engine::detail {

/// For an op that is the gradient of another, `forward`, and saves all that it takes: first the
/// gradients of forward's `outputs` outputs (undefined: 0), then forward's inputs, of which the
/// first is there, `count` in all. Its own outputs are the gradients by the inputs that are there,
/// in their order. Gives the gradients by all that it took, for `grads` of its outputs, computed in
/// f32 (f64 for f64) on a tape of its own: a third derivative is not supported. `forward` takes the
/// inputs in that type and returns outputs of it.
TensorList second_derivative(std::span<const Tensor> grads, const Saved& saved, int count,
                             int outputs,
                             const std::function<TensorList(const TensorList&)>& forward);

}  // namespace engine::detail
