#pragma once

#include <span>

#include "tensor/tape.h"

namespace engine {

/// A layer's weight (out, in) and bias (out).
struct LinearTerms {
    const Tensor* weight;
    const Tensor* bias;
};

constexpr std::size_t max_linear_chain = 8;

/// linear(relu(... relu(linear(x, weight, bias)) ...)) as one node of the tape, with the same
/// numbers. In small networks the overhead around the products is most of a step.
///
/// Undefined where the layers cannot be one node:
/// - types are forced, or products are quantised,
/// - the tensors are on a GPU,
/// - the layers are so large that their activations should be freed one by one,
/// - autocast would have to cast a parameter (the optimizer's 16-bit copies need no cast),
/// - linear() refuses the arguments.
///
/// Where gradients stay in 16 bits (LowGradients), no weight may have another use in the same
/// graph: the cast's node would add up the gradients of both in 16 bits.
Tensor linear_chain(const Tensor& x, std::span<const LinearTerms> layers);

}  // namespace engine
