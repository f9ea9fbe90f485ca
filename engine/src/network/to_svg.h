#pragma once

#include <string>

#include "engine/network/network_exports.h"
#include "network/graph.h"

namespace engine::network {

/// The layers from top to bottom as an SVG picture: see network_to_svg().
std::string to_svg(const NetworkGraph& graph, const NetworkDrawing& drawing);

}  // namespace engine::network
