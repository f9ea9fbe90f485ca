#include "models/network_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/base/error.h"
#include "models/network_plan.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "ops/shape/view.h"

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

/// How the values of an input are used.
struct InputUse {
    bool casts_first = true;  ///< products and convolutions alone compute with them
    bool convolved = true;    ///< two-dimensional convolutions alone read them
};
InputUse input_use(const NetworkGraph& graph, int input) {
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

/// A network that its user wrote.
class NetworkModel final : public Model {
public:
    NetworkModel(NetworkGraph graph, const std::string& gives, std::size_t fields, std::optional<std::int64_t> seed, const Device& device)
        : Model(seed, device), graph_(std::move(graph)), fields_(fields), makes_rows_(gives == "token scores" || gives == "masked token scores") {
        const std::vector<bool> low = low_parameters(graph_);
        for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
            const GraphParameter& each = graph_.parameters[i];
            tensors_.push_back(each.fixed ? registry_.buffer(each.name, Shape(each.sizes), 0) : drawn(registry_, each, low[i]));
        }
        add_aliases();
        BufferPlaces buffers;
        plan_ = make_plan({graph_, registry_, device, tensors_, buffers, false});
        heads = find_head();
        has_blocks_ = std::ranges::any_of(graph_.bodies, [](const GraphBody& body) { return !body.block.empty(); });
        if (has_blocks_) block_plan_ = make_plan({graph_, registry_, device, tensors_, buffers, true});
        for (const int input : graph_.inputs) {
            const TensorType& type = graph_.values[static_cast<std::size_t>(input)].type;
            if (type.whole) continue;
            const InputUse use = input_use(graph_, input);
            casts_inputs_first_ = casts_inputs_first_ && use.casts_first;
            convolves_inputs_first_ = convolves_inputs_first_ && use.convolved;
        }
    }

    TensorList forward(const TensorList& inputs) override {
        LayerPass pass(random);
        pass.training = training;
        pass.sparse_gradients = sparse_gradients;
        if (inputs.size() > fields_) pass.state.assign(inputs.begin() + static_cast<std::ptrdiff_t>(fields_), inputs.end());
        TensorList values(graph_.values.size());
        for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
            values[static_cast<std::size_t>(graph_.inputs[i])] = inputs[static_cast<std::size_t>(graph_.fields[i])];
        const bool recompute = recompute_blocks && training && has_blocks_;
        run_plan(recompute ? block_plan_ : plan_, values, pass, recompute);
        TensorList outputs;
        for (const int output : graph_.outputs) outputs.push_back(values[static_cast<std::size_t>(output)]);
        if (makes_rows_) outputs.front() = flatten(outputs.front(), 0, 1);
        std::ranges::move(pass.next_state, std::back_inserter(outputs));
        return outputs;
    }

    std::vector<Shape> state_shapes(std::int64_t streams) const override {
        std::vector<Shape> shapes;
        for (const GraphNode& node : graph_.nodes) {
            const LayerArguments& arguments = node.arguments;
            if (!arguments.all.contains("carry") || !arguments.flag("carry")) continue;
            const Shape shape{arguments.whole("num_layers"), streams, arguments.whole("hidden_size")};
            shapes.insert(shapes.end(), node.kind->name == "LSTM" ? 2 : 1, shape);
        }
        return shapes;
    }

    std::int64_t context() const override {
        std::int64_t least = 0;
        for (const GraphNode& node : graph_.nodes) {
            if (node.kind->name != "Positions") continue;
            const std::int64_t own = node.arguments.whole("context");
            least = least == 0 ? own : std::min(least, own);
        }
        return least;
    }

    bool casts_inputs_first() const override { return casts_inputs_first_; }
    bool convolves_inputs_first() const override { return convolves_inputs_first_; }

private:
    /// Whether the layer multiplies its input by a weight.
    bool multiplies(const GraphNode& node) const {
        return layer_run(*node.kind).casts_first && std::ranges::any_of(node.parameters, [this](int index) {
            return graph_.parameters[static_cast<std::size_t>(index)].sizes.size() >= 2;
        });
    }
    /// The module of the last such layer among those that the result depends on.
    std::vector<std::string> find_head() const {
        std::vector<bool> needed(graph_.values.size(), false);
        for (const int output : graph_.outputs) needed[static_cast<std::size_t>(output)] = true;
        const auto is_needed = [&needed](int value) { return needed[static_cast<std::size_t>(value)]; };
        for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
            if (std::ranges::none_of(node->outputs, is_needed)) continue;
            if (multiplies(*node)) return {node->module};
            for (const int input : node->inputs) needed[static_cast<std::size_t>(input)] = true;
        }
        return {};
    }
    /// A layer with the weight of another has it under its own name too.
    void add_aliases() {
        for (const GraphNode& node : graph_.nodes) {
            const auto weight = node.arguments.all.find("weight");
            if (weight == node.arguments.all.end() || weight->second.is_default) continue;
            const std::string name = node.module + ".weight";
            const std::string& tied = graph_.parameters[static_cast<std::size_t>(node.parameters.front())].name;
            const bool known = std::ranges::find(registry_.aliases, name, &TensorAlias::name) != registry_.aliases.end();
            if (!known) registry_.alias(name, tied);
        }
    }

    NetworkGraph graph_;
    std::size_t fields_;  // of the data; carried states follow them
    bool makes_rows_;     // of sequences
    TensorList tensors_;  // of the graph's parameters
    Plan plan_, block_plan_;
    bool has_blocks_ = false;
    bool casts_inputs_first_ = true, convolves_inputs_first_ = true;
};

[[noreturn]] void refuse(const std::vector<NetworkFault>& faults) {
    std::vector<const NetworkFault*> wrong;
    for (const NetworkFault& fault : faults)
        if (!fault.note) wrong.push_back(&fault);
    std::ranges::stable_sort(wrong, {}, [](const NetworkFault* fault) { return std::pair(fault->place.line, fault->place.column); });
    const NetworkFault& first = *wrong.front();
    throw Error(ErrorCode::settings, msg("The network does not fit the data: line {}, column {}: {}", first.place.line, first.place.column, first.text.str()),
                wrong.size() > 1 ? msg("It has {} faults.", wrong.size()) : Message());
}

}  // namespace
}  // namespace engine::network

namespace engine {

NetworkData network_data(const ModelShape& shape, const Options& options) {
    NetworkData data{.inputs = {}, .outputs = shape.outputs, .options = options};
    for (const FieldSpec& field : shape.inputs) {
        NetworkInput input{.field = name(field.kind)};
        if (field.kind != FieldKind::tokens) input.sizes.assign(field.shape.begin(), field.shape.end());
        if (field.cardinality > 0) input.counts = {field.cardinality};
        data.inputs.push_back(std::move(input));
    }
    return data;
}

std::unique_ptr<Model> make_network_model(std::string_view text, const Options& options, const ModelShape& shape,
                                          std::optional<std::int64_t> seed, const Device& device, bool has_file) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    network::NetworkGraph graph = network::expand_network(syntax, network_data(shape, options), faults);
    if (!std::ranges::all_of(faults, &NetworkFault::note)) network::refuse(faults);
    const auto read = std::ranges::find_if(graph.parameters, &network::GraphParameter::fixed);
    if (read != graph.parameters.end() && !has_file)
        throw Error(ErrorCode::settings, msg("{} is a Buffer: its numbers are read from a file.", read->name),
                    msg("Set model.init_from to a file that has it, or write Parameter."));
    return std::make_unique<network::NetworkModel>(std::move(graph), syntax.gives, shape.inputs.size(), seed, device);
}

}  // namespace engine
