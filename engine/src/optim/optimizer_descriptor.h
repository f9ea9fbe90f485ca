#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/run_config.h"
#include "optim/optimizer.h"

namespace engine {

/// A kind of optimizer: the only place that knows it (design.md, D16).
struct OptimizerDescriptor {
    std::string kind;                 ///< as in RunConfig
    std::string title;                ///< "AdamW"
    std::string summary;              ///< one sentence
    std::vector<std::string> fields;  ///< of OptimizerConfig that it reads, but for those of LARC
    OptimizerConfig defaults;         ///< of the settings
    /// Numbers of state that it keeps for each parameter, in f32 unless it says otherwise.
    int (*states)(const OptimizerConfig& config) = nullptr;
    bool low_state = false;  ///< the state of 16-bit weights without masters is in 16 bits
    std::unique_ptr<Optimizer> (*make)(const OptimizerConfig& config,
                                       std::vector<Parameter> parameters,
                                       const OptimizerOptions& options) = nullptr;
};

/// All kinds, in the order in which they are offered.
std::span<const OptimizerDescriptor> optimizer_descriptors();
/// Throws Error(settings) if there is no such kind.
const OptimizerDescriptor& optimizer_descriptor(const std::string& kind);

}  // namespace engine
