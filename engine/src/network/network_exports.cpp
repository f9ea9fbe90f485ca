#include "engine/network/network_exports.h"

#include <algorithm>

#include "engine/base/error.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "network/to_pytorch.h"
#include "network/to_svg.h"

namespace engine {
namespace {

network::NetworkGraph faultless_graph(std::string_view text, const NetworkData& data) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    network::NetworkGraph graph = network::expand_network(syntax, data, faults);
    const auto fault = std::ranges::find(faults, false, &NetworkFault::note);
    if (fault != faults.end()) throw Error(ErrorCode::settings, msg("Line {}: {}", fault->place.line, fault->text.str()));
    return graph;
}

}  // namespace

std::string network_to_pytorch(std::string_view text, const NetworkData& data) {
    return network::to_pytorch(faultless_graph(text, data), text);
}

std::string network_to_svg(std::string_view text, const NetworkData& data, const NetworkDrawing& drawing) {
    return network::to_svg(faultless_graph(text, data), drawing);
}

}  // namespace engine
