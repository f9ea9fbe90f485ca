#include "network/graph.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace engine::network {
namespace {

/// A module with its parameters and the modules inside it, in the order of the text.
struct ModuleTree {
    std::vector<int> own{}, buffers{};
    std::vector<std::unique_ptr<ModuleTree>> inside{};
    std::unordered_map<std::string, std::size_t> places{};

    ModuleTree& module(const std::string& name) {
        const auto [found, added] = places.emplace(name, inside.size());
        if (added) inside.push_back(std::make_unique<ModuleTree>());
        return *inside[found->second];
    }
    /// A name has at most Limits::full_name characters, so this is not deeper than half of them.
    void add_to(std::vector<GraphState>& order) const {
        for (const int index : own) order.push_back({false, index});
        for (const int index : buffers) order.push_back({true, index});
        for (const auto& each : inside) each->add_to(order);
    }
    /// The module in which a tensor stands.
    ModuleTree& around(const std::string& name) {
        ModuleTree* found = this;
        std::size_t from = 0;
        for (std::size_t dot = name.find('.'); dot != name.npos; from = dot + 1, dot = name.find('.', from))
            found = &found->module(name.substr(from, dot - from));
        return *found;
    }
};

std::string ending(const NetworkGraph& graph) {
    std::string text;
    for (const int output : graph.outputs)
        text += (text.empty() ? "" : ", ") + to_string(graph.values[static_cast<std::size_t>(output)].type.sizes);
    return text;
}

const Sizes& output_sizes(const NetworkGraph& graph, std::size_t index = 0) {
    return graph.values[static_cast<std::size_t>(graph.outputs[index])].type.sizes;
}

/// Says which of the stages are no images of the input's size over 4, 8, 16 and 32; empty: all are.
Message wrong_stage(const NetworkGraph& graph, const NetworkData& data, const std::string& gives) {
    const Sizes image = graph.inputs.empty() ? Sizes{} : graph.values[static_cast<std::size_t>(graph.inputs.front())].type.sizes;
    std::int64_t stride = 4;
    for (std::size_t i = 0; i < stage_count; ++i, stride *= 2) {
        const Sizes& stage = output_sizes(graph, i);
        bool fits = stage.size() == 4 && image.size() == 4;
        for (std::size_t dim = 2; fits && dim < 4; ++dim) fits = stage[dim].is_number() && (image[dim].number + stride - 1) / stride == stage[dim].number;
        if (fits) continue;
        const std::string name = data.stages && gives != "stages" ? stage_label(i) : "output " + std::to_string(i + 1);
        return msg("{} is {}. Stages are four images with strides 4, 8, 16 and 32: this one needs 1/{} of the input, {}, a side.", name, to_string(stage), stride, to_string(image));
    }
    return {};
}

}  // namespace

void order_parameters(NetworkGraph& graph) {
    ModuleTree root;
    std::size_t buffer = 0;
    for (std::size_t i = 0; i <= graph.parameters.size(); ++i) {
        for (; buffer < graph.buffers.size() && graph.buffers[buffer].parameters <= i; ++buffer)
            root.around(graph.buffers[buffer].name).buffers.push_back(static_cast<int>(buffer));
        if (i < graph.parameters.size()) root.around(graph.parameters[i].name).own.push_back(static_cast<int>(i));
    }
    root.add_to(graph.state);
    std::vector<int> place(graph.parameters.size());
    std::vector<GraphParameter> parameters;
    parameters.reserve(place.size());
    for (GraphState& each : graph.state) {
        if (each.buffer) continue;
        const auto old = static_cast<std::size_t>(each.index);
        each.index = place[old] = static_cast<int>(parameters.size());
        parameters.push_back(std::move(graph.parameters[old]));
    }
    graph.parameters = std::move(parameters);
    for (GraphNode& node : graph.nodes)
        for (int& parameter : node.parameters) parameter = place[static_cast<std::size_t>(parameter)];
}

void add_prefix(NetworkGraph& graph, const std::string& prefix) {
    const auto add = [&](std::string& name) {
        if (!name.empty()) name.insert(0, prefix);
    };
    for (GraphNode& each : graph.nodes) add(each.module);
    for (GraphBody& each : graph.bodies) add(each.module);
    for (GraphParameter& each : graph.parameters) add(each.name);
    for (GraphBuffer& each : graph.buffers) add(each.name);
    graph.prefix = prefix + graph.prefix;
}

std::optional<Failure> check_outputs(const NetworkGraph& graph, const NetworkSyntax& syntax, const NetworkData& data) {
    const TextPlace place = syntax.body.back().place;
    const auto failure = [&](Message text) { return Failure{place, std::move(text), {}}; };
    const Size outputs{data.outputs, Size::Symbol::none};
    const std::string& gives = syntax.gives;
    if (gives == "stages" || data.stages) {
        if (graph.outputs.size() == stage_count) {
            const Message wrong = wrong_stage(graph, data, gives);
            return wrong.empty() ? std::nullopt : std::optional(failure(wrong));
        }
        return failure(msg("The network ends with {}; stages are four images with strides 4, 8, 16 and 32: output layer1, layer2, layer3, layer4.", ending(graph)));
    }
    if (graph.outputs.size() != 1) return failure(msg("output names one value; only a network that gives stages has several."));
    const Sizes& end = output_sizes(graph);
    if (gives == "scores") {
        const Sizes needed{batch_size, outputs};
        if (end == needed) return {};
        if (std::ranges::find(end, window_size) != end.end())
            return failure(msg("The network ends with {}; scores need {}. Take one place, Select(1, -1), or the mean of all, Mean(1), and add fc: Linear(outputs); or write \"gives token scores\".", ending(graph), to_string(needed)));
        if (end.size() > 2) return failure(msg("The network ends with {}; scores need {}. Add Flatten and fc: Linear(outputs).", ending(graph), to_string(needed)));
        return failure(msg("The network ends with {}; scores need {}. End with fc: Linear(outputs).", ending(graph), to_string(needed)));
    }
    if (gives == "click score") {
        if (end == Sizes{batch_size, {1, Size::Symbol::none}}) return {};
        return failure(msg("The network ends with {}; a click score needs N x 1. End with Linear(1).", ending(graph)));
    }
    if (gives == "token scores" || gives == "masked token scores") {
        if (end == Sizes{batch_size, window_size, outputs}) return {};
        return failure(msg("The network ends with {}; {} need {}. End with Linear(outputs).", ending(graph), gives, to_string(Sizes{batch_size, window_size, outputs})));
    }
    if (gives == "image") {
        const bool image = !graph.inputs.empty() && end == graph.values[static_cast<std::size_t>(graph.inputs.front())].type.sizes;
        if (image && end.size() == 4) return {};
        return failure(msg("The network ends with {}; an image has the size of the network's input.", ending(graph)));
    }
    return Failure{syntax.network, msg("gives {}: use scores, image, token scores, masked token scores, click score or stages.", gives), {}};
}

}  // namespace engine::network
