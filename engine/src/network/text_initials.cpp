#include "network/text_initials.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "network/arguments.h"
#include "network/text_environment.h"

namespace engine::network {
namespace {

/// The weights of a layer, or its biases.
struct LayerRules {
    int node = 0;
    std::vector<const GraphParameter*> parameters{};

    bool is_uniform() const {
        return std::ranges::all_of(parameters, [&](const GraphParameter* each) {
            return each->chosen == parameters.front()->chosen && each->initial == parameters.front()->initial;
        });
    }
    bool chosen() const { return parameters.front()->chosen; }
    std::string rule() const { return to_string(parameters.front()->initial); }
};

std::string role_in_layer(const NetworkGraph& graph, const GraphParameter& parameter) {
    const GraphNode& node = graph.nodes[static_cast<std::size_t>(parameter.node)];
    return parameter.name.size() > node.module.size() ? parameter.name.substr(node.module.size() + 1) : std::string();
}

/// The rule that two layers or more have, if the text says all of their rules.
std::optional<std::string> common_rule(const std::vector<LayerRules>& layers) {
    std::map<std::string, int> counts;
    for (const LayerRules& layer : layers) {
        if (!layer.chosen()) return {};
        ++counts[layer.rule()];
    }
    const auto most = std::ranges::max_element(counts, {}, &std::pair<const std::string, int>::second);
    return most->second > 1 ? std::optional(most->first) : std::nullopt;
}

/// An init line for each weight, since the weights of one layer have several rules.
void add_lines_of_roles(const NetworkGraph& graph, const LayerKind& kind, const std::vector<LayerRules>& layers, TextInitials& out) {
    std::map<std::string, const GraphParameter*> by_role;
    for (const LayerRules& layer : layers) {
        for (const GraphParameter* each : layer.parameters) {
            const std::string own = role_in_layer(graph, *each);
            const auto known = std::ranges::find_if(kind.roles, [&](const std::string& role) { return own == role || own.starts_with(role + "_l"); });
            const GraphParameter* first = known == kind.roles.end() ? nullptr : by_role.emplace(*known, each).first->second;
            if (first == nullptr ? each->chosen : first->chosen != each->chosen || !(first->initial == each->initial))
                throw Error(ErrorCode::settings, msg("{}: its initial weights cannot be written as a text.", each->name));
        }
    }
    for (const auto& [role, parameter] : by_role)
        if (parameter->chosen) out.lines.push_back("init " + kind.name + '.' + role + " = " + to_string(parameter->initial));
}

}  // namespace

TextInitials text_initials(const NetworkGraph& graph) {
    std::map<std::pair<const LayerKind*, bool>, std::vector<LayerRules>> kinds;
    std::vector<std::pair<const LayerKind*, bool>> order;  // of the text
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const int index : graph.nodes[i].parameters) {
            const GraphParameter& parameter = graph.parameters[static_cast<std::size_t>(index)];
            if (parameter.node != static_cast<int>(i) || parameter.fixed) continue;
            const std::pair key(graph.nodes[i].kind, is_bias(role_in_layer(graph, parameter)));
            auto& layers = kinds[key];
            if (layers.empty()) order.push_back(key);
            if (layers.empty() || layers.back().node != parameter.node) layers.push_back({parameter.node, {}});
            layers.back().parameters.push_back(&parameter);
        }
    }
    TextInitials out;
    for (const auto& key : order) {
        const auto& layers = kinds[key];
        const LayerKind& kind = *key.first;
        const bool bias = key.second;
        if (!std::ranges::all_of(layers, &LayerRules::is_uniform)) {
            add_lines_of_roles(graph, kind, layers, out);
            continue;
        }
        const auto common = common_rule(layers);
        if (common) out.lines.push_back("init " + kind.name + (bias ? ".bias = " : ".weight = ") + *common);
        for (const LayerRules& layer : layers) {
            if (!layer.chosen() || layer.rule() == common) continue;
            TextInitials::Own& own = out.layers[layer.node];
            (bias ? own.bias : own.weight) = layer.rule();
        }
    }
    return out;
}

}  // namespace engine::network
