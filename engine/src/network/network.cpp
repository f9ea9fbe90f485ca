#include "engine/network/network.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "network/arguments.h"
#include "network/builtin_networks.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "network/kind_forms.h"
#include "network/text_options.h"

namespace engine {
namespace {

using namespace network;

/// Texts of rules. Most layers of a network share a few.
class InitialTexts {
public:
    const std::string& text(const InitialRule& rule) {
        auto found = std::ranges::find(texts_, rule, &std::pair<InitialRule, std::string>::first);
        if (found != texts_.end()) return found->second;
        constexpr std::size_t most = 16;
        if (texts_.size() == most) texts_.clear();
        return texts_.emplace_back(rule, to_string(rule)).second;
    }

private:
    std::vector<std::pair<InitialRule, std::string>> texts_;
};

std::int64_t elements(const std::vector<std::int64_t>& sizes) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;  // below 2^62: LayerCall::parameter()
    return count;
}

void add_rows(NetworkGraph graph, CheckedNetwork& out) {
    out.rows.reserve(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        GraphNode& node = graph.nodes[i];
        NetworkRow row{.place = node.place, .layer = call_text(*node.kind, node.arguments), .flops = node.flops, .heads = std::move(node.heads)};
        if (node.own_module || node.kind->bare) row.module = std::move(node.module);
        row.shape = to_string(graph.values[static_cast<std::size_t>(node.outputs.front())].type.sizes);
        for (const int input : node.inputs) row.inputs.push_back(graph.values[static_cast<std::size_t>(input)].node);
        for (const int index : node.parameters) {
            const GraphParameter& parameter = graph.parameters[static_cast<std::size_t>(index)];
            if (parameter.node == static_cast<int>(i) && !parameter.fixed) row.parameters += elements(parameter.sizes);
        }
        out.rows.push_back(std::move(row));
    }
    InitialTexts texts;
    out.parameters.reserve(graph.parameters.size());
    for (GraphParameter& parameter : graph.parameters)
        out.parameters.push_back({std::move(parameter.name), std::move(parameter.sizes), texts.text(parameter.initial), parameter.fixed});
    for (GraphBuffer& buffer : graph.buffers) out.buffers.push_back({std::move(buffer.name), std::move(buffer.sizes)});
    for (const GraphState& each : graph.state)
        out.state.push_back(static_cast<std::size_t>(each.index) + (each.buffer ? out.parameters.size() : 0));
    for (const int output : graph.outputs)
        out.shape += (out.shape.empty() ? "" : ", ") + to_string(graph.values[static_cast<std::size_t>(output)].type.sizes);
}

std::string default_text(const LayerArgument& argument) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&argument.option.default_value);
    if (list != nullptr) return list->empty() ? std::string() : std::to_string(list->front());
    std::string text;
    std::visit([&](const auto& value) {
        if constexpr (requires { Value{value}; }) text = to_string(Value{value});
    }, argument.option.default_value);
    return text;
}

std::string form_text(const LayerKind& kind) {
    std::string positional, named;
    for (const LayerArgument& argument : kind.arguments) {
        const std::string& name = argument.option.name;
        if (argument.positional) {
            std::string text = argument.form == LayerArgument::Form::rest ? name + "..." : name;
            if (!argument.required) text = '[' + text + ']';
            positional += (positional.empty() ? "" : ", ") + text;
        } else {
            const std::string usual = default_text(argument);
            named += (named.empty() ? "" : ", ") + (usual.empty() ? name : name + '=' + usual);
        }
    }
    if (positional.empty() && named.empty()) return kind.name;
    return kind.name + '(' + positional + (named.empty() ? "" : positional.empty() ? "; " + named : "; " + named) + ')';
}

/// Says of layers whose window is larger than their input, which size of the images is large enough.
void name_image_size(const NetworkSyntax& syntax, const NetworkData& data, std::vector<NetworkFault>& faults) {
    const auto image = std::ranges::find(data.inputs, "image", &NetworkInput::field);
    const auto too_small = [](const NetworkFault& fault) { return fault.text.text == smaller_than_window().text; };
    const auto fault = std::ranges::find_if(faults, too_small);
    if (fault == faults.end() || image == data.inputs.end() || image->sizes.size() != 3) return;
    const std::int64_t height = image->sizes[1], width = image->sizes[2];
    constexpr std::int64_t largest = 4096;
    constexpr std::size_t most_layers = 500;
    bool is_large = false;
    const auto fits = [&](std::int64_t larger) {
        NetworkData other = data;
        auto& sizes = other.inputs[static_cast<std::size_t>(image - data.inputs.begin())].sizes;
        sizes[1] = larger;
        sizes[2] = std::max<std::int64_t>(1, width * larger / std::max<std::int64_t>(1, height));
        std::vector<NetworkFault> left;
        is_large = expand_network(syntax, other, left).nodes.size() > most_layers;
        return std::ranges::none_of(left, [&](const NetworkFault& each) { return too_small(each) && each.place == fault->place; });
    };
    std::int64_t below = height, enough = height;
    do {
        below = enough;
        enough *= 2;
        if (enough > largest || is_large) return;
    } while (!fits(enough));
    while (enough - below > 1) {
        const std::int64_t between = (below + enough) / 2;
        (fits(between) ? enough : below) = between;
    }
    fault->text = msg("{}: the input is {}, smaller than the window. Remove this layer, or use images of at least {} x {}.", fault->text.args[0],
                      fault->text.args[1], enough, std::max<std::int64_t>(1, width * enough / std::max<std::int64_t>(1, height)));
}

}  // namespace

bool CheckedNetwork::usable() const { return std::ranges::all_of(faults, &NetworkFault::note); }

std::int64_t CheckedNetwork::parameter_count() const {
    std::int64_t count = 0;
    for (const NetworkRow& row : rows) count += row.parameters;
    return count;
}

double CheckedNetwork::flops() const {
    double count = 0;
    for (const NetworkRow& row : rows) count += row.flops;
    return count;
}

CheckedNetwork check_network(std::string_view text, const NetworkData& data) {
    CheckedNetwork out;
    const NetworkSyntax syntax = parse_network(text, out.faults);
    std::vector<NetworkFault> ignored;
    out.options = text_options(syntax, ignored);
    out.gives = syntax.gives;
    add_rows(expand_network(syntax, data, out.faults), out);
    name_image_size(syntax, data, out.faults);
    const auto by_place = [](const NetworkFault& fault) { return std::pair(fault.place.line, fault.place.column); };
    std::ranges::stable_sort(out.faults, {}, by_place);
    const auto again = [](const NetworkFault& a, const NetworkFault& b) { return a.place == b.place && a.text.text == b.text.text; };
    out.faults.erase(std::unique(out.faults.begin(), out.faults.end(), again), out.faults.end());
    if (out.faults.size() > Limits::shown_faults) {
        std::stable_partition(out.faults.begin(), out.faults.end(), [](const NetworkFault& fault) { return !fault.note; });
        out.faults.resize(Limits::shown_faults);
        std::ranges::stable_sort(out.faults, {}, by_place);
    }
    return out;
}

NetworkData usual_network_data(std::string_view text) {
    static const std::vector<NetworkInput> usual = {
        {"image", {3, 224, 224}, {}}, {"features", {8}, {}}, {"tokens", {}, {1000}}, {"indices", {26}, {1000}}};
    std::vector<NetworkFault> ignored;
    NetworkData data;
    for (const auto& names : parse_network(text, ignored).inputs) {
        // The data have one of several fields: the first is the usual one.
        const auto found = std::ranges::find(usual, names.front(), &NetworkInput::field);
        if (found != usual.end()) data.inputs.push_back(*found);
    }
    return data;
}

std::vector<LayerKindInfo> network_layer_kinds() {
    std::vector<LayerKindInfo> out;
    for (const LayerKind& kind : layer_kinds()) {
        LayerKindInfo& info = out.emplace_back(LayerKindInfo{kind.name, form_text(kind), kind.help, {}});
        for (const LayerArgument& argument : kind.arguments) info.arguments.push_back({argument.option.name, argument.option.help, argument.words});
    }
    return out;
}

std::vector<std::string> network_templates() {
    std::vector<std::string> names;
    for (const BuiltinNetwork& each : builtin_network_texts()) names.emplace_back(each.name.substr(0, each.name.rfind('.')));
    return names;
}

std::string network_template(const std::string& name) {
    const auto found = std::ranges::find(builtin_network_texts(), name + ".network", &BuiltinNetwork::name);
    if (found != builtin_network_texts().end()) return std::string(found->text);
    throw Error(ErrorCode::settings, msg("{} is no template: use {}.", one_line(name), join(network_templates(), ", ")));
}

}  // namespace engine
