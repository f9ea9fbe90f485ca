#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/settings/run_config.h"
#include "optim/common_options.h"
#include "optim/optimizer.h"

namespace engine {

/// A kind of optimizer: the only place that knows it (decisions.md#descriptor, D16).
struct OptimizerDescriptor {
    std::string kind;     ///< as in RunConfig
    std::string title;    ///< "AdamW"
    std::string summary;  ///< one sentence
    std::vector<OptionSpec> options;
    /// Numbers of state that it keeps for each parameter, in f32 unless it says otherwise.
    int (*states)(const TypedOptions& options) = nullptr;
    bool low_state = false;  ///< the state of 16-bit weights without masters is in 16 bits
    /// Finds conflicts between options that are valid one by one; null: there can be none.
    std::optional<OptionConflict> (*check)(const TypedOptions& options) = nullptr;
    std::unique_ptr<Optimizer> (*make)(const TypedOptions& options,
                                       std::vector<Parameter> parameters,
                                       const OptimizerOptions& common) = nullptr;
};

/// All kinds, in the order in which they are offered, each with LARC's options after its own.
std::span<const OptimizerDescriptor> optimizer_descriptors();
/// Throws Error(settings) if there is no such kind.
const OptimizerDescriptor& optimizer_descriptor(const std::string& kind);

}  // namespace engine
