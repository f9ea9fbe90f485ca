#pragma once

#include "core/tape.h"

namespace engine {

extern const OpInfo add_inplace_info, mul_inplace_info, exp_inplace_info, pow_inplace_info,
    copy_inplace_info, zero_inplace_info;

// Writes into x and returns it. x keeps its shape and type (the result is rounded to it); an
// in-place form has no autocast entry (1.3). With gradient mode on: a leaf that requires a
// gradient, or a view that is part of a graph, gives Error(state); another x takes its new place in
// the graph.

Tensor add_(const Tensor& x, const Tensor& other);
Tensor mul_(const Tensor& x, const Tensor& other);
Tensor exp_(const Tensor& x);
Tensor pow_(const Tensor& x, const Tensor& exponent);
/// x = source, broadcast and cast silently.
Tensor copy_(const Tensor& x, const Tensor& source);
Tensor zero_(const Tensor& x);

/// The values of x in the memory layout of another tensor of its shape; an op of its own, since x
/// may be a leaf.
Tensor assigned_like(const Tensor& x, const Tensor& like);

}  // namespace engine
