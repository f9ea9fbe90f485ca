#include "models/onnx_nodes.h"
#include "ops/recurrent/recurrent.h"

namespace engine::onnx_nodes {
namespace {

OnnxValue joined(OnnxTrace& to, const OnnxValues& parts) {
    return parts.size() == 1 ? parts[0] : to.node("Concat", parts, {{"axis", std::int64_t{0}}});
}

/// Weights stay in PyTorch's order of gates; the graph reorders them, which a runtime does once,
/// when it loads the graph.
struct Gates {
    const char* type;  ///< of the node
    std::vector<std::size_t> order;  ///< in ONNX's order, by their place in PyTorch's
};

Gates gates(std::string_view op) {
    if (op == "lstm") return {"LSTM", {0, 3, 1, 2}};  // i f g o -> i o f c
    if (op == "gru") return {"GRU", {1, 0, 2}};       // r z n -> z r h
    return {"RNN", {0}};
}

OnnxValue reordered(OnnxTrace& to, const OnnxValue& weight, const Gates& gates, std::int64_t hidden) {
    if (gates.order.size() == 1) return weight;
    const OnnxValue sizes = to.integers(Sizes(gates.order.size(), hidden));
    const OnnxValues parts = to.nodes("Split", {weight, sizes}, {{"axis", std::int64_t{0}}}, gates.order.size());
    OnnxValues in_order;
    for (const std::size_t from : gates.order) in_order.push_back(parts[from]);
    return joined(to, in_order);
}

OnnxValue turned(OnnxTrace& to, const OnnxValue& sequence) {
    return to.node("Transpose", {sequence}, {{"perm", Sizes{1, 0, 2}}});
}

}  // namespace

/// One node a layer, of one direction or both.
OnnxValues recurrent(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<RecurrentOptions>();
    if (!options.batch_sizes.empty()) refuse_form(call);
    const std::string_view op = call.info.name;
    const Gates order = gates(op);
    const std::size_t states = op == "lstm" ? 2 : 1, each = options.has_biases ? 4 : 2;
    const std::size_t directions = options.bidirectional ? 2 : 1;
    const std::int64_t hidden = call.outputs[0].size(2) / static_cast<std::int64_t>(directions);
    OnnxAttributes attributes = {{"hidden_size", hidden}};
    if (options.bidirectional) attributes["direction"] = std::string("bidirectional");
    if (order.order.size() == 1)
        attributes["activations"] = std::vector<std::string>(directions, op == "rnn_tanh" ? "Tanh" : "Relu");
    // The reset gate acts after the product.
    if (op == "gru") attributes["linear_before_reset"] = std::int64_t{1};
    OnnxValue sequence = options.batch_first ? turned(to, in[0]) : in[0];
    std::vector<OnnxValues> last(states);
    for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
        OnnxValues w, r, b;  // of each direction
        const auto add = [&](OnnxValues& list, const OnnxValue& value) { list.push_back(to.node("Unsqueeze", {value, to.integers({0})})); };
        for (std::size_t side = 0; side < directions; ++side) {
            const OnnxValue* weight = &in[1 + states + (static_cast<std::size_t>(layer) * directions + side) * each];
            add(w, reordered(to, weight[0], order, hidden));
            add(r, reordered(to, weight[1], order, hidden));
            if (options.has_biases) add(b, joined(to, {reordered(to, weight[2], order, hidden), reordered(to, weight[3], order, hidden)}));
        }
        OnnxValues inputs{sequence, joined(to, w), joined(to, r), b.empty() ? "" : joined(to, b), ""};  // all of full length
        const auto rows = static_cast<std::int64_t>(directions);
        for (std::size_t i = 1; i <= states; ++i)
            inputs.push_back(options.num_layers == 1 || in[i].empty()
                                 ? in[i]
                                 : to.node("Slice", {in[i], to.integers({layer * rows}), to.integers({(layer + 1) * rows}), to.integers({0})}));
        while (inputs.back().empty()) inputs.pop_back();
        const OnnxValues out = to.nodes(order.type, inputs, attributes, 1 + states);
        if (directions == 1)
            sequence = to.node("Squeeze", {out[0], to.integers({1})});
        else  // (T, 2, N, H): directions side by side
            sequence = to.node("Reshape", {to.node("Transpose", {out[0]}, {{"perm", Sizes{0, 2, 1, 3}}}), to.integers({0, 0, -1})});
        for (std::size_t i = 0; i < states; ++i) last[i].push_back(out[i + 1]);
    }
    OnnxValues result{options.batch_first ? turned(to, sequence) : sequence};
    for (const OnnxValues& each_layer : last) result.push_back(joined(to, each_layer));
    return result;
}

}  // namespace engine::onnx_nodes
