#pragma once

#include <memory>
#include <string>
#include <vector>

#include "amp/force.h"
#include "engine/run_config.h"

namespace engine {

/// The keys of precision.force as rules for a model of these modules. Null: there are none. Throws
/// Error(settings) that names every key which is neither a module of the model nor an operation
/// whose type can be forced, one a line.
std::shared_ptr<const ForceRules> force_rules(const ForcedTypes& forced,
                                              const std::vector<std::string>& modules);

}  // namespace engine
