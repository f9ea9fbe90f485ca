#pragma once

#include <vector>

#include "engine/base/options.h"
#include "network/syntax.h"

namespace engine::network {

/// The options that a text declares, one for each of its lines. Faults of these lines are added.
std::vector<OptionSpec> text_options(const NetworkSyntax& syntax, std::vector<NetworkFault>& faults);

}  // namespace engine::network
