// ONNX's nodes (opset 17) for each operation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/onnx_trace.h"
#include "ops/attention/attention.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/index/embedding.h"
#include "ops/index/embedding_bag.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pool/pool.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"

namespace engine {
namespace onnx_nodes {  // apart from the operations of these names
namespace {

using Sizes = std::vector<std::int64_t>;

// Each function writes the nodes of one operation. `in`: values of call.inputs.

[[noreturn]] void refuse_form(const TracedCall& call) {
    refuse_onnx(
        msg("This model cannot be exported to ONNX: there are no nodes for this form of {}.",
            call.info.name));
}

OnnxValue same(OnnxTrace&, const TracedCall&, const OnnxValues& in) { return in[0]; }

/// The dimension in which the result differs from its first input.
std::int64_t changed_dim(const TracedCall& call) {
    if (call.changed_dim() < 0) refuse_form(call);
    return call.changed_dim();
}

Sizes list(const Shape& shape) { return {shape.begin(), shape.end()}; }

OnnxValue reshape(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Shape &from = call.inputs[0].shape(), &shape = call.outputs[0].shape();
    if (shape.rank() == 2 && from.rank() > 2 && shape[0] == from[0]) return to.node("Flatten", in);
    return to.node("Reshape", {in[0], to.integers(list(shape), /*one_follows=*/true)});
}

OnnxValue permute(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    return to.node("Transpose", in, {{"perm", call.order()}});
}

OnnxValue expand(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    return to.node("Expand", {in[0], to.integers(list(call.outputs[0].shape()))});
}

OnnxValue narrow(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Tensor &x = call.inputs[0], &y = call.outputs[0];
    if (x.shape() == y.shape()) return in[0];
    const std::int64_t dim = changed_dim(call);
    const std::int64_t step = x.strides()[static_cast<int>(dim)];
    const std::int64_t start = (y.impl()->offset - x.impl()->offset) / step;
    return to.node(
        "Slice", {in[0], to.integers({start}), to.integers({start + y.size(static_cast<int>(dim))}),
                  to.integers({dim})});
}

OnnxValue concatenate(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    return in.size() == 1 ? in[0] : to.node("Concat", in, {{"axis", changed_dim(call)}});
}

OnnxValue cast(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const DType from = call.inputs[0].dtype(), type = call.outputs[0].dtype();
    if (is_floating(from) && is_floating(type)) return in[0];
    return to.node("Cast", in, {{"to", onnx_type(is_floating(type) ? to.dtype() : type)}});
}

OnnxValue embedding(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("Gather", {in[1], in[0]});
}

OnnxValue index_select(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    return to.node("Gather", {in[0], in[1]}, {{"axis", changed_dim(call)}});
}

OnnxValue embedding_bag(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<EmbeddingBagOptions>();
    // With offsets or weights there are more inputs than the index and the table.
    if (options.padding_idx || in.size() > 2) refuse_form(call);
    const OnnxValue rows = to.node("Gather", {in[1], in[0]});
    if (call.inputs[0].size(1) == 1) return to.node("Squeeze", {rows, to.integers({1})});
    if (options.mode != BagMode::sum) refuse_form(call);
    return to.node("ReduceSum", {rows, to.integers({1})}, {{"keepdims", std::int64_t{0}}});
}

OnnxValue linear(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (call.inputs[0].rank() == 2) return to.node("Gemm", in, {{"transB", std::int64_t{1}}});
    const OnnxValue product = to.node("MatMul", {in[0], to.node("Transpose", {in[1]})});
    return in.size() < 3 ? product : to.node("Add", {product, in[2]});
}

OnnxValue product(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("MatMul", in);
}

OnnxValue addmm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    for (const CallArgument& each : call.arguments)
        if (each.as<double>() != nullptr && *each.as<double>() != 1) refuse_form(call);
    return to.node("Gemm", {in[1], in[2], in[0]});
}

/// A number for each of two dimensions, given one by one or for both, `times` over.
template <typename T>
Sizes pair(const T& values, int times = 1) {
    Sizes out;
    for (int i = 0; i < times; ++i)
        for (std::size_t dim = 0; dim < 2; ++dim) out.push_back(values[dim % values.size()]);
    return out;
}

OnnxAttributes window(const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                      const Sizes& dilation) {
    return {{"kernel_shape", kernel},
            {"strides", stride},
            {"pads", pair(padding, 2)},
            {"dilations", dilation}};
}

template <typename Options>
OnnxAttributes convolution(const TracedCall& call, const Options& o) {
    const Tensor& weight = call.inputs[1];
    OnnxAttributes out =
        window({weight.size(2), weight.size(3)}, pair(o.stride), pair(o.padding), pair(o.dilation));
    out["group"] = o.groups;
    return out;
}

OnnxValue conv2d(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<Conv2dOptions>();
    if (options.same) refuse_form(call);
    return to.node("Conv", in, convolution(call, options));
}

OnnxValue conv_transpose2d(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<ConvTransposeOptions>();
    OnnxAttributes attributes = convolution(call, options);
    attributes["output_padding"] = pair(options.output_padding);
    return to.node("ConvTranspose", in, attributes);
}

OnnxValue pool2d(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& o = *call.find<PoolOptions>();
    OnnxAttributes attributes = window(pair(o.kernel), pair(o.stride.empty() ? o.kernel : o.stride),
                                       pair(o.padding), pair(o.dilation));
    attributes["ceil_mode"] = std::int64_t{o.ceil_mode};
    if (call.info.name == "max_pool2d") return to.node("MaxPool", in, attributes);
    if (o.divisor_override) refuse_form(call);
    attributes.erase("dilations");
    attributes["count_include_pad"] = std::int64_t{o.count_include_pad};
    return to.node("AveragePool", in, attributes);
}

OnnxValue adaptive_avg_pool2d(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Tensor &x = call.inputs[0], &y = call.outputs[0];
    if (x.rank() != 4) refuse_form(call);
    if (y.size(2) == 1 && y.size(3) == 1) return to.node("GlobalAveragePool", in);
    if (x.size(2) % y.size(2) != 0 || x.size(3) % y.size(3) != 0) refuse_form(call);
    const Sizes kernel{x.size(2) / y.size(2), x.size(3) / y.size(3)};
    return to.node("AveragePool", in, {{"kernel_shape", kernel}, {"strides", kernel}});
}

/// All f32 in an fp16 graph too: a variance easily leaves the range of fp16.
OnnxValue batch_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& t = *call.find<BatchNormTensors>();
    const auto& options = *call.find<BatchNormOptions>();
    if (options.training) refuse_form(call);
    const auto statistic = [&](const char* name, const Tensor& tensor, double otherwise) {
        return to.statistic(current_module() + name,
                            tensor.defined() ? tensor
                                             : Tensor::full(t.running_mean.shape(), otherwise,
                                                            DType::f32, Device{}));
    };
    OnnxValue y = to.node("BatchNormalization",
                          {in[0], statistic(".weight", t.weight, 1), statistic(".bias", t.bias, 0),
                           statistic(".running_mean", t.running_mean, 0),
                           statistic(".running_var", t.running_var, 1)},
                          {{"epsilon", options.eps}});
    if (call.info.name == "batch_norm") return y;
    if (in.size() > 1) y = to.node("Add", {y, in[1]});
    return to.node("Relu", {y});
}

OnnxValue layer_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (in.size() < 2) refuse_form(call);
    return to.node(
        "LayerNormalization", in,
        {{"axis", std::int64_t{-call.inputs[1].rank()}}, {"epsilon", *call.find<double>()}});
}

OnnxValue relu6(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("Clip", {in[0], to.number(0), to.number(6)});
}

OnnxValue sloped(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const char* type = call.info.name == "elu" ? "Elu" : "LeakyRelu";
    return to.node(type, in, {{"alpha", *call.find<double>()}});
}

OnnxValue silu(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("Mul", {in[0], to.node("Sigmoid", in)});
}

/// In operators, because opset 17 has none.
OnnxValue gelu(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto times = [&](const OnnxValue& a, const OnnxValue& b) {
        return to.node("Mul", {a, b});
    };
    const OnnxValue& x = in[0];
    OnnxValue inner;
    if (call.find<std::string>() != nullptr) {  // by tanh
        const OnnxValue cube = times(times(x, x), x);
        const OnnxValue sum = to.node("Add", {x, times(cube, to.number(0.044715))});
        inner = to.node("Tanh", {times(sum, to.number(0.79788456080286535588))});
    } else {
        inner = to.node("Erf", {times(x, to.number(0.70710678118654752440))});
    }
    return times(times(x, to.number(0.5)), to.node("Add", {inner, to.number(1)}));
}

OnnxValue softmax(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const char* type = call.info.name == "softmax" ? "Softmax" : "LogSoftmax";
    return to.node(type, in, {{"axis", *call.find<std::int64_t>()}});
}

OnnxValue mean(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    OnnxAttributes attributes = {{"keepdims", std::int64_t{*call.find<bool>()}}};
    if (const Sizes& dims = *call.find<Sizes>(); !dims.empty()) attributes["axes"] = dims;
    return to.node("ReduceMean", in, attributes);
}

/// -inf above the diagonal, 0 elsewhere.
OnnxValue causal_mask(OnnxTrace& to, std::int64_t rows, std::int64_t columns) {
    const OnnxValue least = to.statistic(
        "minus_infinity",
        Tensor::scalar(-std::numeric_limits<double>::infinity(), DType::f32, Device{}));
    const OnnxValue all = to.node("Expand", {least, to.integers({rows, columns})});
    const OnnxValue one = to.node("Squeeze", {to.integers({1}), to.integers({0})});
    return to.node("Trilu", {all, one}, {{"upper", std::int64_t{1}}});
}

/// Scores are f32 in an fp16 graph too.
OnnxValue attention(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<AttentionOptions>();
    const Shape &q = call.inputs[0].shape(), &k = call.inputs[1].shape();
    if (options.enable_gqa || in.size() > 3) refuse_form(call);
    const auto converted = [&](const OnnxValue& x, DType type) {
        return to.dtype() == DType::f32 ? x : to.node("Cast", {x}, {{"to", onnx_type(type)}});
    };
    Sizes turned(static_cast<std::size_t>(k.rank()));
    std::iota(turned.begin(), turned.end(), 0);
    std::swap(turned.end()[-1], turned.end()[-2]);
    // Before the product, whose sums may overflow fp16 otherwise.
    const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.back())));
    const OnnxValue query = to.node("Mul", {in[0], to.number(scale)});
    const OnnxValue keys = to.node("Transpose", {in[1]}, {{"perm", turned}});
    OnnxValue scores = converted(to.node("MatMul", {query, keys}), DType::f32);
    if (options.is_causal)
        scores = to.node("Add", {scores, causal_mask(to, q.end()[-2], k.end()[-2])});
    const OnnxValue weights = to.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    return to.node("MatMul", {converted(weights, to.dtype()), in[2]});
}

OnnxValue joined(OnnxTrace& to, const OnnxValues& parts) {
    return parts.size() == 1 ? parts[0] : to.node("Concat", parts, {{"axis", std::int64_t{0}}});
}

/// One node a layer. Weights stay in PyTorch's order of gates; the graph reorders them, which a
/// runtime does once, when it loads the graph.
OnnxValues recurrent(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<RecurrentOptions>();
    if (options.bidirectional || options.batch_first || !options.batch_sizes.empty())
        refuse_form(call);
    const std::string_view op = call.info.name;
    const std::size_t states = op == "lstm" ? 2 : 1, each = options.has_biases ? 4 : 2;
    std::vector<std::size_t> gates{0};  // in ONNX's order, by their place in PyTorch's
    OnnxAttributes attributes = {{"hidden_size", call.outputs[0].size(2)}};
    if (op == "lstm")
        gates = {0, 3, 1, 2};  // i f g o -> i o f c
    else if (op == "gru")
        gates = {1, 0, 2};  // r z n -> z r h
    else
        attributes["activations"] = std::vector<std::string>{op == "rnn_tanh" ? "Tanh" : "Relu"};
    // The reset gate acts after the product.
    if (op == "gru") attributes["linear_before_reset"] = std::int64_t{1};
    const auto reordered = [&](const OnnxValue& weight) {
        if (gates.size() == 1) return weight;
        const OnnxValue sizes = to.integers(Sizes(gates.size(), call.outputs[0].size(2)));
        const OnnxValues parts =
            to.nodes("Split", {weight, sizes}, {{"axis", std::int64_t{0}}}, gates.size());
        OnnxValues in_order;
        for (const std::size_t from : gates) in_order.push_back(parts[from]);
        return joined(to, in_order);
    };
    const auto with_direction = [&](const OnnxValue& value) {
        return to.node("Unsqueeze", {value, to.integers({0})});
    };
    const char* type = op == "lstm" ? "LSTM" : op == "gru" ? "GRU" : "RNN";
    OnnxValue sequence = in[0];
    std::vector<OnnxValues> last(states);
    for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
        const OnnxValue* weight = &in[1 + states + static_cast<std::size_t>(layer) * each];
        OnnxValues inputs{sequence, with_direction(reordered(weight[0])),
                          with_direction(reordered(weight[1])), "", ""};  // all of full length
        if (options.has_biases)
            inputs[3] = with_direction(joined(to, {reordered(weight[2]), reordered(weight[3])}));
        for (std::size_t i = 1; i <= states; ++i)
            inputs.push_back(options.num_layers == 1
                                 ? in[i]
                                 : to.node("Slice", {in[i], to.integers({layer}),
                                                     to.integers({layer + 1}), to.integers({0})}));
        const OnnxValues out = to.nodes(type, inputs, attributes, 1 + states);
        sequence = to.node("Squeeze", {out[0], to.integers({1})});
        for (std::size_t i = 0; i < states; ++i) last[i].push_back(out[i + 1]);
    }
    OnnxValues result{sequence};
    for (const OnnxValues& each_layer : last) result.push_back(joined(to, each_layer));
    return result;
}

/// Operations whose one node has their name, with a capital letter.
constexpr std::string_view alike[] = {
    "abs",  "acos",  "add",  "asin",     "atan", "ceil", "cos",        "cosh", "div",   "erf",
    "exp",  "floor", "log",  "mul",      "neg",  "pow",  "reciprocal", "relu", "round", "sigmoid",
    "sign", "sin",   "sinh", "softsign", "sqrt", "sub",  "tan",        "tanh"};

OnnxValue capital(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (call.arguments.size() > in.size()) refuse_form(call);
    std::string type(call.info.name);
    type[0] = static_cast<char>(type[0] - 'a' + 'A');
    return to.node(type, in);
}

struct Entry {
    std::string_view op;
    OnnxValue (*nodes)(OnnxTrace&, const TracedCall&, const OnnxValues&);
};

constexpr Entry table[] = {{"reshape", reshape},
                           {"permute", permute},
                           {"expand", expand},
                           {"narrow", narrow},
                           {"contiguous", same},
                           {"cat", concatenate},
                           {"to", cast},
                           {"embedding", embedding},
                           {"embedding_bag", embedding_bag},
                           {"index_select", index_select},
                           {"linear", linear},
                           {"addmm", addmm},
                           {"mm", product},
                           {"bmm", product},
                           {"matmul", product},
                           {"conv2d", conv2d},
                           {"conv_transpose2d", conv_transpose2d},
                           {"max_pool2d", pool2d},
                           {"avg_pool2d", pool2d},
                           {"adaptive_avg_pool2d", adaptive_avg_pool2d},
                           {"batch_norm", batch_norm},
                           {"batch_norm_relu", batch_norm},
                           {"layer_norm", layer_norm},
                           {"relu6", relu6},
                           {"leaky_relu", sloped},
                           {"elu", sloped},
                           {"silu", silu},
                           {"gelu", gelu},
                           {"softmax", softmax},
                           {"log_softmax", softmax},
                           {"mean", mean},
                           {"scaled_dot_product_attention", attention}};
constexpr std::string_view recurrent_ops[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};

const Entry* find(std::string_view op) {
    static constexpr Entry named{"", capital};
    if (std::ranges::find(alike, op) != std::end(alike)) return &named;
    const auto* found = std::ranges::find(table, op, &Entry::op);
    return found == std::end(table) ? nullptr : found;
}

bool is_recurrent(std::string_view op) {
    return std::ranges::find(recurrent_ops, op) != std::end(recurrent_ops);
}

}  // namespace
}  // namespace onnx_nodes

bool has_onnx_nodes(const Op& op) {
    return onnx_nodes::is_recurrent(op.name) || onnx_nodes::find(op.name) != nullptr;
}

OnnxValues write_onnx_nodes(OnnxTrace& to, const TracedCall& call) {
    OnnxValues in;
    for (const Tensor& each : call.inputs) in.push_back(to.value(each));
    if (onnx_nodes::is_recurrent(call.info.name)) return onnx_nodes::recurrent(to, call, in);
    return {onnx_nodes::find(call.info.name)->nodes(to, call, in)};
}

}  // namespace engine
