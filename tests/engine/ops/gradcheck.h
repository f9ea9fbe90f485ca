#pragma once

#include <functional>

#include "tensor/tape.h"

namespace engine {

using Function = std::function<Tensor(const TensorList& inputs)>;

/// Uniform values in [low, high), rounded to dtype. The same seed gives the same values.
Tensor random_tensor(const Shape& shape, DType dtype, std::uint32_t seed, double low = -2,
                     double high = 2);

/// Expects that the gradients of sum(f(inputs) * w), with random w, agree with central differences.
/// inputs: contiguous f64. Checks only those that require a gradient.
void expect_gradients(const Function& f, const TensorList& inputs);

/// Checks the gradients of the gradients, by every input and by the gradient of the output.
void expect_second_gradients(const Function& f, const TensorList& inputs);

/// Expects equal shapes, and |got - expected| <= tolerance * (1 + |expected|) everywhere. NaN
/// equals NaN, and infinities must be equal.
void expect_close(const Tensor& got, const Tensor& expected, double tolerance);

}  // namespace engine
