#pragma once

#include <functional>

#include "tensor/tape.h"

namespace engine {

/// The body of an op that writes into x and returns it (ops/pointwise/inplace.h): x = f(old x,
/// others), rounded to x's type, with autocast off inside. f's result has x's shape. An undefined
/// `other` stays undefined; an `other` that is x itself is passed as the old x. Error(state) if
/// gradients are recorded and x is a leaf that requires one, or a view.
Tensor write_in_place(const OpInfo& info, const Tensor& x, const TensorList& others,
                      const std::function<Tensor(const Tensor& old, const TensorList& others)>& f);

}  // namespace engine
