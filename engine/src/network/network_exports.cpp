#include "engine/network/network_exports.h"

#include <algorithm>

#include "engine/base/error.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "network/to_pytorch.h"
#include "network/to_svg.h"
#include "network/to_text.h"

namespace engine {
namespace {

struct FaultlessNetwork {
    std::string gives{};
    network::NetworkGraph graph{};
};

FaultlessNetwork faultless(std::string_view text, const NetworkData& data) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    network::NetworkGraph graph = network::expand_network(syntax, data, faults);
    const auto fault = std::ranges::find(faults, false, &NetworkFault::note);
    if (fault != faults.end()) throw Error(ErrorCode::settings, msg("Line {}: {}", fault->place.line, fault->text.str()));
    return {syntax.gives, std::move(graph)};
}

network::NetworkGraph faultless_graph(std::string_view text, const NetworkData& data) { return faultless(text, data).graph; }

}  // namespace

std::string network_to_pytorch(std::string_view text, const NetworkData& data) {
    return network::to_pytorch(faultless_graph(text, data), text);
}

std::string network_to_svg(std::string_view text, const NetworkData& data, const NetworkDrawing& drawing) {
    return network::to_svg(faultless_graph(text, data), drawing);
}

std::string network_to_text(std::string_view text, const NetworkData& data) {
    const auto [gives, graph] = faultless(text, data);
    std::string out = network::to_text(graph, gives, data.outputs);
    NetworkData without_options = data;
    without_options.options.clear();
    if (!network::are_equal(graph, faultless_graph(out, without_options)))
        throw Error(ErrorCode::settings, msg("No text without options makes this network: a module that runs again has other layers then."));
    return out;
}

const std::vector<NetworkForm>& network_forms() {
    using Types = std::vector<std::string>;
    static const std::vector<NetworkForm> forms = {
        {"pytorch", "PyTorch source", "py", [](std::string_view text, const NetworkData& data, const Types&) { return network_to_pytorch(text, data); }},
        {"network", "Text without options", "network", [](std::string_view text, const NetworkData& data, const Types&) { return network_to_text(text, data); }},
        {"svg", "Picture", "svg", [](std::string_view text, const NetworkData& data, const Types&) { return network_to_svg(text, data); }},
        {"svg-types", "Picture with the layers of blocks and their types", "svg",
         [](std::string_view text, const NetworkData& data, const Types& types) {
             constexpr int all = 100;
             return network_to_svg(text, data, {.depth = all, .types = types});
         }}};
    return forms;
}

}  // namespace engine
