#include "models/network_body.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "network/expand.h"
#include "network/grammar.h"

namespace engine::network {
namespace {

/// Sizes of a convolution's or linear layer's sums, as torch.nn.init counts them: (out, in, taps...).
struct Fans {
    double in = 1, out = 1;
};
Fans fans(const Shape& shape) {
    Fans fans;
    for (int dim = 0; dim < shape.rank(); ++dim) {
        if (dim != 0) fans.in *= static_cast<double>(shape[dim]);
        if (dim != 1) fans.out *= static_cast<double>(shape[dim]);
    }
    if (shape.rank() == 1) fans.in = fans.out;
    return fans;
}

/// Draws a tensor by its rule, from the next substream.
Tensor drawn(TensorRegistry& registry, const GraphParameter& parameter, bool low) {
    const std::string &name = parameter.name, &rule = parameter.initial.rule;
    const Shape shape(parameter.sizes);
    const auto& numbers = parameter.initial.numbers;
    const auto& words = parameter.initial.words;
    if (rule == "ones") return registry.constant(name, shape, 1, low);
    if (rule == "constant") return registry.constant(name, shape, numbers.front(), low);
    if (rule == "uniform") return registry.uniform(name, shape, numbers.front(), low);
    if (rule == "normal") return registry.normal(name, shape, numbers.front(), low);
    if (rule == "trunc_normal") return registry.truncated_normal(name, shape, numbers.front(), low);
    if (rule == "orthogonal") return registry.orthogonal(name, shape, low);
    const Fans sizes = fans(shape);
    if (rule == "xavier_uniform") return registry.uniform(name, shape, std::sqrt(6 / (sizes.in + sizes.out)), low);
    if (rule == "xavier_normal") return registry.normal(name, shape, std::sqrt(2 / (sizes.in + sizes.out)), low);
    if (words.size() == 2) {
        const double fan = words[0] == "fan_in" ? sizes.in : sizes.out;
        const double variance = (words[1] == "relu" ? 2 : 1) / fan;
        if (rule == "kaiming_uniform") return registry.uniform(name, shape, std::sqrt(3 * variance), low);
        return registry.normal(name, shape, std::sqrt(variance), low);
    }
    return registry.constant(name, shape, 0, low);
}

InputUse use_of(const NetworkGraph& graph, int input) {
    InputUse use;
    std::vector<bool> same(graph.values.size(), false);  // the input, or a view of it
    same[static_cast<std::size_t>(input)] = true;
    for (const int output : graph.outputs) use.casts_first = use.casts_first && output != input;
    for (const GraphNode& node : graph.nodes) {
        const bool reads = std::ranges::any_of(node.inputs, [&](int value) { return same[static_cast<std::size_t>(value)]; });
        if (!reads) continue;
        const LayerRun& run = layer_run(*node.kind);
        if (run.view && node.inputs.size() == 1)
            same[static_cast<std::size_t>(node.outputs.front())] = true;
        else
            use.casts_first = use.casts_first && run.casts_first;
        use.convolved = use.convolved && node.kind->name == "Conv2d" && node.arguments.word("padding_mode") == "zeros";
    }
    return use;
}

[[noreturn]] void refuse(const std::vector<NetworkFault>& faults) {
    std::vector<const NetworkFault*> wrong;
    for (const NetworkFault& fault : faults)
        if (!fault.note) wrong.push_back(&fault);
    std::ranges::stable_sort(wrong, {}, [](const NetworkFault* fault) { return std::pair(fault->place.line, fault->place.column); });
    const NetworkFault& first = *wrong.front();
    throw Error(ErrorCode::settings, msg("The network does not fit the data: line {}, column {}: {}", first.place.line, first.place.column, first.text.str()),
                wrong.size() > 1 ? msg("It has {} faults.", wrong.size()) : Message());
}

/// Which parameters are buffers, because their BatchNorm2d is frozen. Throws Error(settings) for one
/// that is drawn.
std::vector<bool> frozen_parameters(const NetworkGraph& graph) {
    std::vector<bool> frozen(graph.parameters.size(), false);
    for (const GraphNode& node : graph.nodes) {
        if (node.kind->name != "BatchNorm2d") continue;
        for (const int index : node.parameters) {
            const GraphParameter& own = graph.parameters[static_cast<std::size_t>(index)];
            if (!constant_start(own.initial))
                throw Error(ErrorCode::settings, msg("model.options.norm: frozen: {} begins with drawn numbers, which nothing would change", own.name),
                            msg("Use zeros, ones or constant in the network."));
            frozen[static_cast<std::size_t>(index)] = true;
        }
    }
    return frozen;
}

}  // namespace

NetworkBody::NetworkBody(NetworkGraph graph, TensorRegistry& registry, const Device& device, std::optional<double> frozen_eps) : graph_(std::move(graph)) {
    const std::vector<bool> low = low_parameters(graph_);
    const std::vector<bool> frozen = frozen_eps ? frozen_parameters(graph_) : std::vector<bool>(low.size(), false);
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
        const GraphParameter& each = graph_.parameters[i];
        tensors_.push_back(frozen[i]    ? Tensor()
                           : each.fixed ? registry.buffer(each.name, Shape(each.sizes), 0)
                                        : drawn(registry, each, low[i]));
    }
    add_aliases(registry);
    BufferPlaces buffers;
    plan_ = make_plan({graph_, registry, device, tensors_, buffers, false, frozen_eps});
    has_blocks_ = std::ranges::any_of(graph_.bodies, [](const GraphBody& body) { return !body.block.empty(); });
    if (has_blocks_) block_plan_ = make_plan({graph_, registry, device, tensors_, buffers, true, frozen_eps});
}

TensorList NetworkBody::run(const Model& model, const TensorList& inputs, LayerPass& pass, const Seen& seen) const {
    pass.training = model.training;
    pass.sparse_gradients = model.sparse_gradients;
    TensorList values(graph_.values.size());
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
        values[static_cast<std::size_t>(graph_.inputs[i])] = inputs[static_cast<std::size_t>(graph_.fields[i])];
    std::size_t next = 0;
    const auto value = [&](std::size_t output) -> const Tensor& { return values[static_cast<std::size_t>(graph_.outputs[output])]; };
    const auto tell = [&] {
        for (; next < graph_.outputs.size() && value(next).defined(); ++next) seen(next, value(next));
    };
    const bool recompute = model.recompute_blocks && model.training && has_blocks_;
    run_plan(recompute ? block_plan_ : plan_, values, pass, recompute, seen ? std::function<void()>(tell) : std::function<void()>());
    TensorList outputs;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) outputs.push_back(value(i));
    return outputs;
}

InputUse NetworkBody::input_use() const {
    InputUse all;
    for (const int input : graph_.inputs) {
        if (graph_.values[static_cast<std::size_t>(input)].type.whole) continue;
        const InputUse use = use_of(graph_, input);
        all.casts_first = all.casts_first && use.casts_first;
        all.convolved = all.convolved && use.convolved;
    }
    return all;
}

/// A layer with the weight of another has it under its own name too.
void NetworkBody::add_aliases(TensorRegistry& registry) const {
    for (const GraphNode& node : graph_.nodes) {
        const auto weight = node.arguments.all.find("weight");
        if (weight == node.arguments.all.end() || weight->second.is_default) continue;
        const std::string name = node.module + ".weight";
        const std::string& tied = graph_.parameters[static_cast<std::size_t>(node.parameters.front())].name;
        const bool known = std::ranges::find(registry.aliases, name, &TensorAlias::name) != registry.aliases.end();
        if (!known) registry.alias(name, tied);
    }
}

NetworkGraph faultless_graph(std::string_view text, const NetworkData& data, bool has_file) {
    std::vector<NetworkFault> faults;
    const NetworkSyntax syntax = parse_network(text, faults);
    NetworkGraph graph = expand_network(syntax, data, faults);
    if (!std::ranges::all_of(faults, &NetworkFault::note)) refuse(faults);
    const auto read = std::ranges::find_if(graph.parameters, &GraphParameter::fixed);
    if (read != graph.parameters.end() && !has_file)
        throw Error(ErrorCode::settings, msg("{} is a Buffer: its numbers are read from a file.", read->name),
                    msg("Set model.init_from to a file that has it, or write Parameter."));
    return graph;
}

}  // namespace engine::network
