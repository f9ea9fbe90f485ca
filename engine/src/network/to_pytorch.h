#pragma once

#include <string>
#include <string_view>

#include "network/graph.h"

namespace engine::network {

/// A Python file that makes the network with PyTorch, with `text` as its docstring. Its state_dict
/// has the names, shapes and order of the graph. Throws Error(settings) for a layer that has no
/// part for PyTorch.
std::string to_pytorch(const NetworkGraph& graph, std::string_view text);

}  // namespace engine::network
