#include <utility>

#include "engine/base/error.h"
#include "io/onnx/onnx_graph.h"
#include "nn/recurrent.h"

// Recurrent layers as ONNX's LSTM, GRU and RNN, one node a layer.
namespace engine {
namespace {

/// A kind as ONNX has it. Weights stay in PyTorch's order of gates; the graph reorders them, which
/// a runtime does once, when it loads the graph.
struct Form {
    const char* type;
    std::vector<std::size_t> gates;  ///< in ONNX's order, by their place in PyTorch's
    OnnxAttributes attributes;
};

Form form_of(RecurrentKind kind) {
    switch (kind) {
        case RecurrentKind::lstm:  // i f g o -> i o f c
            return {"LSTM", {0, 3, 1, 2}, {}};
        case RecurrentKind::gru:  // r z n -> z r h; the reset gate acts after the product
            return {"GRU", {1, 0, 2}, {{"linear_before_reset", std::int64_t{1}}}};
        case RecurrentKind::rnn_tanh:
            return {"RNN", {0}, {{"activations", std::vector<std::string>{"Tanh"}}}};
        case RecurrentKind::rnn_relu:
            break;
    }
    return {"RNN", {0}, {{"activations", std::vector<std::string>{"Relu"}}}};
}

class LayerWriter {
public:
    LayerWriter(OnnxGraph& graph, const Recurrent& net) : graph_(graph), net_(net) {}

    /// {Y (time, 1, streams, hidden), and each last state (1, streams, hidden)}
    OnnxValues layer(std::int64_t index, const OnnxValue& x, const OnnxValues& states) {
        OnnxValues inputs{x, weight(index, "weight_ih"), weight(index, "weight_hh"), biases(index),
                          ""};  // every sequence has the full length
        for (const OnnxValue& state : states) inputs.push_back(state_of(state, index));
        OnnxAttributes attributes = form_.attributes;
        attributes["hidden_size"] = net_.sizes.hidden;
        return graph_.node(form_.type, inputs, attributes, 1 + states.size());
    }

private:
    OnnxValue parameter(std::int64_t layer, const std::string& what) {
        const std::size_t each = net_.sizes.has_biases ? 4 : 2;
        const std::size_t place = what == "weight_ih"   ? 0
                                  : what == "weight_hh" ? 1
                                  : what == "bias_ih"   ? 2
                                                        : 3;
        const Tensor& tensor = net_.params[static_cast<std::size_t>(layer) * each + place];
        return graph_.weight(net_.module.text() + "." + what + "_l" + std::to_string(layer),
                             tensor);
    }

    OnnxValue reordered(const OnnxValue& value) {
        const std::size_t gates = form_.gates.size();
        if (gates == 1) return value;
        const OnnxValue sizes =
            graph_.integers(std::vector<std::int64_t>(gates, net_.sizes.hidden));
        const OnnxValues parts =
            graph_.node("Split", {value, sizes}, {{"axis", std::int64_t{0}}}, gates);
        OnnxValues in_order;
        for (const std::size_t from : form_.gates) in_order.push_back(parts[from]);
        return graph_.node("Concat", in_order, {{"axis", std::int64_t{0}}});
    }

    OnnxValue with_direction(const OnnxValue& value) {
        return graph_.node("Unsqueeze", {value, graph_.integers({0})});
    }

    OnnxValue weight(std::int64_t layer, const char* what) {
        return with_direction(reordered(parameter(layer, what)));
    }

    OnnxValue biases(std::int64_t layer) {
        if (!net_.sizes.has_biases) return "";
        return with_direction(graph_.node(
            "Concat",
            {reordered(parameter(layer, "bias_ih")), reordered(parameter(layer, "bias_hh"))},
            {{"axis", std::int64_t{0}}}));
    }

    OnnxValue state_of(const OnnxValue& state, std::int64_t layer) {
        if (net_.sizes.num_layers == 1) return state;
        return graph_.node("Slice", {state, graph_.integers({layer}), graph_.integers({layer + 1}),
                                     graph_.integers({0})});
    }

    OnnxGraph& graph_;
    const Recurrent& net_;
    const Form form_ = form_of(net_.kind);
};

}  // namespace

OnnxValues Recurrent::graph(OnnxGraph& graph, const OnnxValue& x, const OnnxValues& hx) const {
    if (sizes.bidirectional || sizes.batch_first)
        throw Error(ErrorCode::value,
                    msg("ONNX: recurrent layers must be unidirectional, with time first"));
    const ModuleScope opened(module);
    LayerWriter writer(graph, *this);
    OnnxValue sequence = x;
    std::vector<OnnxValues> last(hx.size());
    for (std::int64_t layer = 0; layer < sizes.num_layers; ++layer) {
        const OnnxValues out = writer.layer(layer, sequence, hx);
        sequence = graph.node("Squeeze", {out[0], graph.integers({1})});
        for (std::size_t i = 0; i < hx.size(); ++i) last[i].push_back(out[i + 1]);
    }
    OnnxValues result{sequence};
    for (const OnnxValues& states : last)
        result.push_back(states.size() == 1
                             ? states.front()
                             : graph.node("Concat", states, {{"axis", std::int64_t{0}}}));
    return result;
}

}  // namespace engine
