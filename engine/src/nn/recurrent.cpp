#include "nn/recurrent.h"

#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "io/onnx/onnx_graph.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

std::int64_t gates_of(RecurrentKind kind) {
    return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}
std::size_t states_of(RecurrentKind kind) { return kind == RecurrentKind::lstm ? 2 : 1; }

/// hx, or zeros of x's type.
TensorList states_or_zeros(RecurrentKind kind, const TensorList& hx, const Shape& shape,
                           const Tensor& x) {
    if (!hx.empty()) return hx;
    return TensorList(states_of(kind), Tensor::zeros(shape, x.dtype(), x.device()));
}

TensorList run(RecurrentKind kind, const Tensor& x, const TensorList& hx, const TensorList& params,
               const RecurrentOptions& options) {
    switch (kind) {
        case RecurrentKind::rnn_tanh:
            return rnn_tanh(x, hx.at(0), params, options);
        case RecurrentKind::rnn_relu:
            return rnn_relu(x, hx.at(0), params, options);
        case RecurrentKind::gru:
            return gru(x, hx.at(0), params, options);
        case RecurrentKind::lstm:
            break;
    }
    return lstm(x, hx, params, options);
}

Tensor with_batch(const Tensor& t, int dim) {
    Shape shape;
    for (int i = 0; i <= t.rank(); ++i) shape.push_back(i == dim ? 1 : t.size(i < dim ? i : i - 1));
    return reshape(t, shape);
}
Tensor without_batch(const Tensor& t, int dim) {
    Shape shape;
    for (int i = 0; i < t.rank(); ++i) {
        if (i != dim) shape.push_back(t.size(i));
    }
    return reshape(t, shape);
}

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

Recurrent::Recurrent(TensorRegistry& registry, const std::string& name, RecurrentKind kind_,
                     const Sizes& sizes_)
    : module(name), kind(kind_), sizes(sizes_) {
    const std::int64_t rows = gates_of(kind) * sizes.hidden;
    const std::int64_t directions = sizes.bidirectional ? 2 : 1;
    const double bound = 1.0 / std::sqrt(static_cast<double>(sizes.hidden));
    for (std::int64_t layer = 0; layer < sizes.num_layers; ++layer)
        for (std::int64_t side = 0; side < directions; ++side) {
            const std::string tail = "_l" + std::to_string(layer) + (side == 1 ? "_reverse" : "");
            const std::int64_t in = layer == 0 ? sizes.in : sizes.hidden * directions;
            const auto add = [&](const char* what, const Shape& shape) {
                params.push_back(registry.uniform(name + "." + what + tail, shape, bound, true));
            };
            add("weight_ih", {rows, in});
            add("weight_hh", {rows, sizes.hidden});
            if (!sizes.has_biases) continue;
            add("bias_ih", {rows});
            add("bias_hh", {rows});
        }
}

TensorList Recurrent::operator()(const Tensor& x, const RecurrentCall& call) const {
    const ModuleScope opened(module);
    const bool packed = !call.batch_sizes.empty();
    const bool alone = !packed && x.rank() == 2;
    const int batch_dim = sizes.batch_first ? 0 : 1;
    const Tensor from = alone ? with_batch(x, batch_dim) : x;
    const std::int64_t batch = packed             ? call.batch_sizes.front()
                               : from.rank() == 3 ? from.size(batch_dim)
                                                  : 0;
    TensorList hx = states_or_zeros(
        kind, call.hx, {sizes.num_layers * (sizes.bidirectional ? 2 : 1), batch, sizes.hidden}, x);
    if (alone && !call.hx.empty()) {
        for (auto& t : hx) t = with_batch(t, 1);
    }
    TensorList out = run(kind, from, hx, params,
                         {.has_biases = sizes.has_biases,
                          .num_layers = sizes.num_layers,
                          .dropout = sizes.dropout,
                          .train = call.training,
                          .bidirectional = sizes.bidirectional,
                          .batch_first = sizes.batch_first,
                          .batch_sizes = call.batch_sizes,
                          .random = call.random,
                          .random_offset = call.random_offset});
    if (alone) {
        out[0] = without_batch(out[0], batch_dim);
        for (std::size_t i = 1; i < out.size(); ++i) out[i] = without_batch(out[i], 1);
    }
    return out;
}

RecurrentCell::RecurrentCell(TensorRegistry& registry, const std::string& name, RecurrentKind kind_,
                             std::int64_t in, std::int64_t hidden_, bool has_biases)
    : module(name), kind(kind_), hidden(hidden_) {
    const std::int64_t rows = gates_of(kind) * hidden;
    const double bound = 1.0 / std::sqrt(static_cast<double>(hidden));
    weights.w_ih = registry.uniform(name + ".weight_ih", {rows, in}, bound, true);
    weights.w_hh = registry.uniform(name + ".weight_hh", {rows, hidden}, bound, true);
    if (!has_biases) return;
    weights.b_ih = registry.uniform(name + ".bias_ih", {rows}, bound, true);
    weights.b_hh = registry.uniform(name + ".bias_hh", {rows}, bound, true);
}

TensorList RecurrentCell::operator()(const Tensor& x, const TensorList& given) const {
    const ModuleScope opened(module);
    const TensorList hx = states_or_zeros(kind, given, {x.size(0), hidden}, x);
    switch (kind) {
        case RecurrentKind::rnn_tanh:
            return {rnn_tanh_cell(x, hx.at(0), weights)};
        case RecurrentKind::rnn_relu:
            return {rnn_relu_cell(x, hx.at(0), weights)};
        case RecurrentKind::gru:
            return {gru_cell(x, hx.at(0), weights)};
        case RecurrentKind::lstm:
            break;
    }
    return lstm_cell(x, hx.at(0), hx.at(1), weights);
}

// Recurrent layers as ONNX's LSTM, GRU and RNN, one node a layer.

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
