#pragma once

#include <string_view>
#include <vector>

#include "network/syntax.h"

namespace engine::network {

/// Reads a text of the network notation. All faults of lines and grammar are added to `faults`, in
/// the order of the lines; the rest of the text is read as if they were not there.
NetworkSyntax parse_network(std::string_view text, std::vector<NetworkFault>& faults);

}  // namespace engine::network
