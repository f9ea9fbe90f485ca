#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/network/network.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Memory of a training step on the CPU, predicted without running, in bytes. Not counted: scratch
/// of libraries and the targets. What is kept is exact to a percent; tensors that live only while
/// one layer's gradient is computed are estimated by its kind. As of one rank and one micro-batch,
/// without recomputation.
struct StepMemory {
    /// By row of CheckedNetwork: tensors that are kept for the backward pass. What several
    /// rows keep, or a view shares, counts at the first one.
    std::vector<double> saved{};
    double batch = 0;        ///< the network's inputs
    double activations = 0;  ///< at the end of the forward pass: those of all rows and of the loss
    double weights = 0;      ///< with running statistics
    double masters = 0;
    double low_copies = 0;  ///< of weights, for autocast
    double optimizer = 0;   ///< its state
    double gradients = 0;   ///< of the weights
    double peak = 0;        ///< of what is counted
};

/// Predicts the memory of a step of these settings on the network of a text: its precision,
/// optimizer, batch size and window count. The text must have no fault. Throws Error(settings) if
/// precision.force names an unknown module or operation.
StepMemory predict_step_memory(std::string_view text, const NetworkData& data, const RunConfig& config);

}  // namespace engine
