#include "nn/recurrent.h"

#include <cmath>

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

}  // namespace engine
