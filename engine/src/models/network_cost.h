#pragma once

#include <vector>

#include "models/typed_network.h"

namespace engine::network {

/// Memory of one pass forward and back beyond what stays between steps, in bytes.
struct PassMemory {
    std::vector<double> saved{};  ///< of each node: tensors kept for the backward pass, each where it is kept first
    double activations = 0;       ///< all of them, with those of the loss
    double gradients = 0;         ///< of the parameters
    double peak = 0;              ///< the most at a time
};

/// The memory of a tensor on the CPU that has so many bytes.
double block_bytes(double bytes);

/// Follows the forward pass on types: a value lives until its last reader has run, or until the
/// gradient that reads it. Batches are not counted. `gradient_types`: of each parameter.
PassMemory count_pass_memory(const NetworkGraph& graph, const TypedForward& forward, const std::vector<DType>& gradient_types);

}  // namespace engine::network
