#include "nn/transformer.h"

#include <cmath>
#include <limits>

#include "io/onnx/onnx_graph.h"
#include "ops/attention/attention.h"
#include "ops/attention/scaled_scores.h"
#include "ops/linalg/products.h"
#include "ops/norm/composed_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/dropout.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

/// (rows, width) -> (samples, heads, tokens, width / heads)
Tensor split_heads(const Tensor& x, const TokenRows& of, std::int64_t heads) {
    return transpose(reshape(x, {of.samples, of.tokens, heads, x.size(1) / heads}), 1, 2);
}

Tensor scalar(double value) { return Tensor::scalar(value, DType::f32, Device{}); }

/// A number in the graph's type.
OnnxValue number(OnnxGraph& graph, double value) {
    return graph.weight("number." + std::to_string(value), scalar(value));
}

/// x as f32, or back in the graph's type.
OnnxValue cast(OnnxGraph& graph, const OnnxValue& x, DType to) {
    if (graph.dtype() == DType::f32) return x;
    return graph.node("Cast", {x}, {{"to", onnx_type(to)}});
}

/// (window, window): -inf above the diagonal, 0 elsewhere.
OnnxValue causal_mask(OnnxGraph& graph, const OnnxValue& window) {
    const OnnxValue least =
        graph.statistic("minus_infinity", scalar(-std::numeric_limits<double>::infinity()));
    const OnnxValue square = graph.node("Concat", {window, window}, {{"axis", std::int64_t{0}}});
    const OnnxValue one = graph.node("Squeeze", {graph.integers({1}), graph.integers({0})});
    return graph.node("Trilu", {graph.node("Expand", {least, square}), one},
                      {{"upper", std::int64_t{1}}});
}

}  // namespace

Tensor Dropout::operator()(const Tensor& x, DropoutDraws& draws) const {
    if (p == 0 || !draws.source()) return x;
    const ModuleScope opened(module);
    return dropout(x, p, *draws.source(), draws.take(x.numel()));
}

LayerNorm::LayerNorm(TensorRegistry& registry, const std::string& name, std::int64_t width,
                     double eps_)
    : module(name),
      weight(registry.constant(name + ".weight", {width}, 1)),
      bias(registry.constant(name + ".bias", {width}, 0)),
      eps(eps_) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    if (norms_are_composed()) return composed_layer_norm(x, weight, bias, eps);
    return layer_norm(x, weight.shape(), weight, bias, eps);
}

SumAndNorm LayerNorm::of_sum(const Tensor& x, const Tensor& around) const {
    if (!norms_are_composed() && can_fuse_add_layer_norm(x, around, weight, bias)) {
        const ModuleScope opened(module);
        return add_layer_norm(x, around, weight, bias, eps);
    }
    const Tensor sum = add(x, around);
    return {sum, (*this)(sum)};
}

bool LayerNorm::may_join_sum() noexcept {
    return can_fuse_add_layer_norm() && !norms_are_composed();
}

Conv1D::Conv1D(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
               double deviation)
    : module(name),
      weight(registry.normal(name + ".weight", {in, out}, deviation, true)),
      bias(registry.constant(name + ".bias", {out}, 0, true)) {}

Tensor Conv1D::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return addmm(bias, x, weight);
}

Tensor AttentionHeads::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const TokenRows& of, DropoutDraws& draws) const {
    AttentionOptions options{.is_causal = is_causal};
    if (dropout.p > 0 && draws.source()) {
        options.dropout_p = dropout.p;
        options.random = draws.source();
        options.random_offset = draws.take(this->draws(of));
    }
    const auto split = [&](const Tensor& x) { return split_heads(x, of, heads); };
    const Tensor y = ScaledScores::take_call()
                         ? attention_of_scaled_scores(split(q), split(k), split(v), is_causal)
                         : scaled_dot_product_attention(split(q), split(k), split(v), {}, options);
    return reshape(transpose(y, 1, 2), {of.rows(), q.size(1)});
}

// The parts of Transformers as pieces of an ONNX graph, in evaluation mode.

OnnxValue LayerNorm::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(module);
    const std::string& name = module.text();
    return graph.node(
        "LayerNormalization",
        {x, graph.weight(name + ".weight", weight), graph.weight(name + ".bias", bias)},
        {{"axis", std::int64_t{-1}}, {"epsilon", eps}});
}

OnnxValue Conv1D::graph(OnnxGraph& graph, const OnnxValue& x) const {
    const ModuleScope opened(module);
    const std::string& name = module.text();
    return graph.node(
        "Gemm", {x, graph.weight(name + ".weight", weight), graph.weight(name + ".bias", bias)});
}

TokenGraph::TokenGraph(OnnxGraph& graph, const OnnxValue& tokens, std::int64_t width_,
                       std::int64_t heads_, bool is_causal)
    : width(width_), heads(heads_) {
    const OnnxValue sizes = graph.node("Shape", {tokens});
    head_shape = graph.node("Concat", {sizes, graph.integers({heads, width / heads})},
                            {{"axis", std::int64_t{0}}});
    window =
        graph.node("Slice", {sizes, graph.integers({1}), graph.integers({2}), graph.integers({0})});
    if (is_causal) mask = causal_mask(graph, window);
}

OnnxValue TokenGraph::positions(OnnxGraph& graph, const OnnxValue& table) const {
    return graph.node("Slice", {table, graph.integers({0}), window, graph.integers({0})});
}

OnnxValue TokenGraph::attend(OnnxGraph& graph, const OnnxValue& q, const OnnxValue& k,
                             const OnnxValue& v) const {
    using Order = std::vector<std::int64_t>;
    const auto split = [&](const OnnxValue& x, const Order& order) {
        return graph.node("Transpose", {graph.node("Reshape", {x, head_shape})}, {{"perm", order}});
    };
    // Before the product, whose sums may overflow fp16 otherwise.
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
    const OnnxValue query = graph.node("Mul", {split(q, {0, 2, 1, 3}), number(graph, scale)});
    OnnxValue scores =
        cast(graph, graph.node("MatMul", {query, split(k, {0, 2, 3, 1})}), DType::f32);
    if (!mask.empty()) scores = graph.node("Add", {scores, mask});
    const OnnxValue weights =
        cast(graph, graph.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), graph.dtype());
    const OnnxValue y = graph.node("MatMul", {weights, split(v, {0, 2, 1, 3})});
    return rows(graph, graph.node("Transpose", {y}, {{"perm", Order{0, 2, 1, 3}}}));
}

OnnxValue TokenGraph::rows(OnnxGraph& graph, const OnnxValue& x) const {
    return graph.node("Reshape", {x, graph.integers({-1, width})});
}

OnnxValue gelu_graph(OnnxGraph& graph, const OnnxValue& x, bool by_tanh) {
    const auto times = [&](const OnnxValue& a, const OnnxValue& b) {
        return graph.node("Mul", {a, b});
    };
    OnnxValue inner;
    if (by_tanh) {
        const OnnxValue cube = times(times(x, x), x);
        const OnnxValue sum = graph.node("Add", {x, times(cube, number(graph, 0.044715))});
        inner = graph.node("Tanh", {times(sum, number(graph, 0.79788456080286535588))});
    } else {
        inner = graph.node("Erf", {times(x, number(graph, 0.70710678118654752440))});
    }
    return times(times(x, number(graph, 0.5)), graph.node("Add", {inner, number(graph, 1)}));
}

}  // namespace engine
