#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo add_inplace_info, mul_inplace_info, exp_inplace_info, pow_inplace_info,
    copy_inplace_info, zero_inplace_info;

// Writes into x and returns it. x keeps its shape and type (the result is rounded to it); in-place
// forms have no autocast entry (autocast.md#what-is-eligible, 1.3). With gradient mode on,
// Error(state) for a leaf that requires a gradient, and for a view that is part of a graph. Any
// other x becomes the output of the op in the graph.

Tensor add_(const Tensor& x, const Tensor& other);
Tensor mul_(const Tensor& x, const Tensor& other);
Tensor exp_(const Tensor& x);
Tensor pow_(const Tensor& x, const Tensor& exponent);
/// x = source, broadcast and cast silently.
Tensor copy_(const Tensor& x, const Tensor& source);
Tensor zero_(const Tensor& x);

/// The values of x in the memory layout of another tensor of its shape. A separate op, since x may
/// be a leaf.
Tensor assigned_like(const Tensor& x, const Tensor& like);

}  // namespace engine
