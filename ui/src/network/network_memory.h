#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/settings/run_config.h"
#include "engine/train/step_memory.h"

namespace ui {

/// The memory of a training step of a text, predicted for some precisions.
struct NetworkMemory {
    struct Step {
        std::string preset;
        engine::StepMemory memory;
        std::int64_t fitting = 0;  ///< largest batch within the limit, where this one needs more; 0: none does
    };
    std::int64_t batch_size = 0;
    double limit = 0;  ///< bytes that the device has; 0: not known
    std::vector<Step> steps;
    /// By row of CheckedNetwork: bytes kept for the backward pass, in the precision whose types are
    /// on show. Empty: not known.
    std::vector<double> saved;

    double most() const;
};

/// Predicts it for a step of each of these settings, and what is kept for the precision of `shown`,
/// whose batch is meant. A text with a fault has none.
NetworkMemory predictMemory(const std::string& text, const engine::CheckedNetwork& network, const engine::NetworkData& data,
                            const std::vector<engine::RunConfig>& steps, const engine::RunConfig& shown, double limit);

}  // namespace ui
