#pragma once

#include <functional>

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

/// The body of such an op: x = f(old x, others), rounded to x's type, with autocast off inside. f's
/// result has x's shape. An undefined `other` stays undefined; an `other` that is x itself is
/// passed as the old x. Error(state) if gradients are recorded and x is a leaf that requires one,
/// or a view.
Tensor write_in_place(const OpInfo& info, const Tensor& x, const TensorList& others,
                      const std::function<Tensor(const Tensor& old, const TensorList& others)>& f);

}  // namespace engine
