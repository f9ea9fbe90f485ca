#pragma once

#include <memory>
#include <string>
#include <vector>

#include "amp/dispatch.h"
#include "engine/settings/run_config.h"

namespace engine {

/// The keys of precision.force as rules for a model with these modules. Null: there are none.
/// Throws Error(settings) that names, one a line, every key that is neither a module of the model
/// nor a forceable operation. Recipes of modules are rules that force nothing.
std::shared_ptr<const ForceRules> force_rules(const ForcedTypes& forced,
                                              const std::vector<std::string>& modules);

}  // namespace engine
