#pragma once

#include <vector>

#include "network/graph.h"

namespace engine::network {

/// Makes the graph of a text (network notation, rules 1 to 14). Faults and notes are added to
/// `faults`, one a line; with a fault the graph has the layers whose shapes are known all the same.
/// Nothing is allocated for tensors, and more than Limits allow is never made.
NetworkGraph expand_network(const NetworkSyntax& syntax, const NetworkData& data, std::vector<NetworkFault>& faults);

}  // namespace engine::network
