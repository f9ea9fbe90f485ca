#include "models/network_model.h"

#include <algorithm>
#include <iterator>

#include "models/network_body.h"
#include "network/grammar.h"
#include "ops/shape/view.h"

namespace engine::network {
namespace {

/// A network that its user wrote.
class NetworkModel final : public Model {
public:
    NetworkModel(NetworkGraph graph, const std::string& gives, std::size_t fields, std::optional<std::int64_t> seed, const Device& device)
        : Model(seed, device), body_(std::move(graph), registry_, device), fields_(fields), makes_rows_(gives == "token scores" || gives == "masked token scores"), use_(body_.input_use()) {
        heads = find_head();
    }

    TensorList forward(const TensorList& inputs) override {
        LayerPass pass(random);
        if (inputs.size() > fields_) pass.state.assign(inputs.begin() + static_cast<std::ptrdiff_t>(fields_), inputs.end());
        TensorList outputs = body_.run(*this, inputs, pass);
        if (makes_rows_) outputs.front() = flatten(outputs.front(), 0, 1);
        std::ranges::move(pass.next_state, std::back_inserter(outputs));
        return outputs;
    }

    std::vector<Shape> state_shapes(std::int64_t streams) const override {
        std::vector<Shape> shapes;
        for (const GraphNode& node : graph().nodes) {
            const LayerArguments& arguments = node.arguments;
            if (!arguments.all.contains("carry") || !arguments.flag("carry")) continue;
            const Shape shape{arguments.whole("num_layers"), streams, arguments.whole("hidden_size")};
            shapes.insert(shapes.end(), node.kind->name == "LSTM" ? 2 : 1, shape);
        }
        return shapes;
    }

    std::int64_t context() const override {
        std::int64_t least = 0;
        for (const GraphNode& node : graph().nodes) {
            if (node.kind->name != "Positions") continue;
            const std::int64_t own = node.arguments.whole("context");
            least = least == 0 ? own : std::min(least, own);
        }
        return least;
    }

    bool casts_inputs_first() const override { return use_.casts_first; }
    bool convolves_inputs_first() const override { return use_.convolved; }

private:
    const NetworkGraph& graph() const { return body_.graph(); }
    /// Whether the layer multiplies its input by a weight.
    bool multiplies(const GraphNode& node) const {
        return layer_run(*node.kind).casts_first && std::ranges::any_of(node.parameters, [this](int index) {
            return graph().parameters[static_cast<std::size_t>(index)].sizes.size() >= 2;
        });
    }
    /// The module of the last such layer among those that the result depends on.
    std::vector<std::string> find_head() const {
        std::vector<bool> needed(graph().values.size(), false);
        for (const int output : graph().outputs) needed[static_cast<std::size_t>(output)] = true;
        const auto is_needed = [&needed](int value) { return needed[static_cast<std::size_t>(value)]; };
        for (auto node = graph().nodes.rbegin(); node != graph().nodes.rend(); ++node) {
            if (std::ranges::none_of(node->outputs, is_needed)) continue;
            if (multiplies(*node)) return {node->module};
            for (const int input : node->inputs) needed[static_cast<std::size_t>(input)] = true;
        }
        return {};
    }

    NetworkBody body_;
    std::size_t fields_;  // of the data; carried states follow them
    bool makes_rows_;     // of sequences
    InputUse use_;
};

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
    const std::string gives = network::parse_network(text, faults).gives;
    return std::make_unique<network::NetworkModel>(network::faultless_graph(text, network_data(shape, options), has_file), gives, shape.inputs.size(), seed, device);
}

}  // namespace engine
