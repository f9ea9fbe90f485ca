#pragma once

#include <functional>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* keeps_left_type =
    "In-place forms are never on the list: the left side keeps its type.";

// Writes into x and returns it. x keeps its shape and type (the result is rounded to it); in-place
// forms have no autocast entry (autocast.md#what-is-eligible, 1.3). With gradient mode on,
// Error(state) for a leaf that requires a gradient, and for a view that is part of a graph. Any
// other x becomes the output of the op in the graph.

Tensor add_(const Tensor& x, const Tensor& other);
inline constexpr Op add_inplace_op(CastPolicy::none, "add_(x, y)", keeps_left_type, by_name<add_>,
                                   not_forced);
Tensor mul_(const Tensor& x, const Tensor& other);
inline constexpr Op mul_inplace_op(CastPolicy::none, "mul_(x, y)", keeps_left_type, by_name<mul_>,
                                   not_forced);
Tensor exp_(const Tensor& x);
inline constexpr Op exp_inplace_op(CastPolicy::none, "exp_(x)", keeps_left_type, by_name<exp_>,
                                   not_forced);
Tensor pow_(const Tensor& x, const Tensor& exponent);
inline constexpr Op pow_inplace_op(CastPolicy::none, "pow_(x, y)", keeps_left_type, by_name<pow_>,
                                   not_forced);
/// x = source, broadcast and cast silently.
Tensor copy_(const Tensor& x, const Tensor& source);
inline constexpr Op copy_inplace_op(CastPolicy::none, "copy_(x, source)",
                                    "A copy takes the type of its destination.", by_name<copy_>,
                                    not_forced);
Tensor zero_(const Tensor& x);
inline constexpr Op zero_inplace_op(CastPolicy::none, "zero_(x)", keeps_left_type, by_name<zero_>,
                                    not_forced);

/// The values of x in the memory layout of another tensor of its shape. A separate op, since x may
/// be a leaf.
Tensor assigned_like(const Tensor& x, const Tensor& like);

/// The body of such an op: x = f(old x, others), rounded to x's type, with autocast off inside. f's
/// result has x's shape. An undefined `other` stays undefined; an `other` that is x itself is
/// passed as the old x. Error(state) if gradients are recorded and x is a leaf that requires one,
/// or a view.
Tensor write_in_place(const Op& info, const Tensor& x, const TensorList& others,
                      const std::function<Tensor(const Tensor& old, const TensorList& others)>& f);

}  // namespace engine
