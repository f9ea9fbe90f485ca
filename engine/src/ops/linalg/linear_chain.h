#pragma once

#include <span>

#include "tensor/tape.h"

namespace engine {

/// A layer's weight (out, in) and bias (out).
struct LinearTerms {
    const Tensor* weight;
    const Tensor* bias;
};

constexpr std::size_t longest_linear_chain = 8;

/// linear(relu(... relu(linear(x, weight, bias)) ...)) as one node of the tape, in the same
/// numbers: in small networks most of a step is what lies around the products. Undefined where the
/// layers cannot be one node: when somebody observes operations or forces their types, on a GPU,
/// for layers so large that their activations should be freed one by one, for parameters that
/// autocast would have to cast (16-bit copies that the optimizer keeps need no cast), and for
/// arguments that linear() refuses. Where gradients stay in 16 bits (LowGradients), no weight may
/// have another use in the same graph: the cast's node would add up the gradients of both in 16
/// bits.
Tensor linear_chain(const Tensor& x, std::span<const LinearTerms> layers);

}  // namespace engine
