// ONNX's nodes (opset 17) for each operation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/base/plain_text.h"
#include "models/onnx_nodes.h"
#include "ops/attention/attention.h"
#include "ops/index/embedding.h"
#include "ops/index/embedding_bag.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/piecewise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"

namespace engine {
namespace onnx_nodes {  // apart from the operations of these names

void refuse_form(const TracedCall& call) {
    refuse_onnx(
        msg("This model cannot be exported to ONNX: there are no nodes for this form of {}.",
            call.info.name));
}

namespace {

OnnxValue same(OnnxTrace&, const TracedCall&, const OnnxValues& in) { return in[0]; }

/// An end of a slice that is larger than any dimension.
constexpr std::int64_t end_of_any = std::numeric_limits<std::int64_t>::max();

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
    const std::int64_t size = y.size(static_cast<int>(dim)), all = x.size(static_cast<int>(dim));
    // The last one, wherever a window ends.
    if (size == 1 && start == all - 1)
        return to.node("Slice", {in[0], to.integers({-1}), to.integers({end_of_any}), to.integers({dim})});
    return to.node("Slice", {in[0], to.integers({start}), to.integers({start + size}), to.integers({dim})});
}

/// Bounds count and are cut as in Python here and there.
OnnxValue slice(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    std::vector<std::int64_t> numbers;                // dim, step
    std::vector<std::optional<std::int64_t>> bounds;  // start, end
    for (const CallArgument& each : call.arguments) {
        if (const auto* number = each.as<std::int64_t>()) numbers.push_back(*number);
        if (const auto* bound = each.as<std::optional<std::int64_t>>()) bounds.push_back(*bound);
    }
    if (numbers.size() != 2 || bounds.size() != 2) refuse_form(call);
    return to.node("Slice", {in[0], to.integers({bounds[0].value_or(0)}), to.integers({bounds[1].value_or(end_of_any)}),
                             to.integers({numbers[0]}), to.integers({numbers[1]})});
}

OnnxValue flip(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Sizes& dims = *call.find<Sizes>();
    const auto each = [&](std::int64_t number) { return to.integers(Sizes(dims.size(), number)); };
    return to.node("Slice", {in[0], each(-1), each(-end_of_any), to.integers(dims), each(-1)});
}

/// Amounts before and after a dimension, from the last one on.
OnnxValue constant_pad(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Sizes& sides = *call.find<Sizes>();
    const auto rank = static_cast<std::size_t>(call.inputs[0].rank());
    Sizes pads(2 * rank, 0);
    for (std::size_t i = 0; i < sides.size(); ++i) pads[(i % 2 == 0 ? 0 : rank) + rank - 1 - i / 2] = sides[i];
    return to.node("Pad", {in[0], to.integers(pads), to.number(*call.find<double>())});
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
    if (options.mode == BagMode::mean) return to.node("ReduceMean", {rows}, {{"axes", Sizes{1}}, {"keepdims", std::int64_t{0}}});
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

OnnxValue square(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("Mul", {in[0], in[0]});
}

OnnxValue clamp(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    std::vector<std::optional<double>> bounds;
    for (const CallArgument& each : call.arguments)
        if (const auto* bound = each.as<std::optional<double>>()) bounds.push_back(*bound);
    if (bounds.size() != 2 || in.size() != 1) refuse_form(call);
    return to.node("Clip", {in[0], bounds[0] ? to.number(*bounds[0]) : "", bounds[1] ? to.number(*bounds[1]) : ""});
}

OnnxValue extreme(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    return to.node(call.info.name == "maximum" ? "Max" : "Min", in);
}

OnnxValue hardsigmoid(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("HardSigmoid", in, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
}

OnnxValue by_name_in_onnx(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (call.info.name == "selu") return to.node("Selu", in);
    return to.node("HardSwish", in);
}

/// celu and elu are the same for 1.
OnnxValue celu(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (*call.find<double>() != 1) refuse_form(call);
    return to.node("Elu", in, {{"alpha", 1.0}});
}

/// Beyond the threshold of 20 the difference from x is below 3e-9.
OnnxValue softplus(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (*call.find<double>() != 1) refuse_form(call);
    return to.node("Softplus", in);
}

OnnxValue mish(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("Mul", {in[0], to.node("Tanh", {to.node("Softplus", in)})});
}

OnnxValue log_sigmoid(OnnxTrace& to, const TracedCall&, const OnnxValues& in) {
    return to.node("Neg", {to.node("Softplus", {to.node("Neg", in)})});
}

OnnxValue prelu(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    return to.node("PRelu", {in[0], call.inputs[1].numel() == 1 ? in[1] : beside_channels(to, in[1], call.inputs[0])});
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

OnnxValue sum(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    OnnxValues inputs = in;
    if (const Sizes& dims = *call.find<Sizes>(); !dims.empty()) inputs.push_back(to.integers(dims));
    return to.node("ReduceSum", inputs, {{"keepdims", std::int64_t{*call.find<bool>()}}});
}

OnnxValue largest(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    OnnxAttributes attributes = {{"keepdims", std::int64_t{*call.find<bool>()}}};
    if (const Sizes& dims = *call.find<Sizes>(); !dims.empty()) attributes["axes"] = dims;
    return to.node("ReduceMax", in, attributes);
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
    Sizes turned(static_cast<std::size_t>(k.rank()));
    std::iota(turned.begin(), turned.end(), 0);
    std::swap(turned.end()[-1], turned.end()[-2]);
    // Before the product, whose sums may overflow fp16 otherwise.
    const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.back())));
    const OnnxValue query = to.node("Mul", {in[0], to.number(scale)});
    const OnnxValue keys = to.node("Transpose", {in[1]}, {{"perm", turned}});
    OnnxValue scores = widened(to, to.node("MatMul", {query, keys}));
    if (options.is_causal)
        scores = to.node("Add", {scores, causal_mask(to, q.end()[-2], k.end()[-2])});
    const OnnxValue weights = to.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    return to.node("MatMul", {narrowed(to, weights), in[2]});
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
                           {"slice", slice},
                           {"flip", flip},
                           {"constant_pad_nd", constant_pad},
                           {"conv1d", convolution},
                           {"conv2d", convolution},
                           {"conv3d", convolution},
                           {"conv_transpose1d", conv_transpose},
                           {"conv_transpose2d", conv_transpose},
                           {"conv_transpose3d", conv_transpose},
                           {"max_pool1d", pool},
                           {"max_pool2d", pool},
                           {"max_pool3d", pool},
                           {"avg_pool1d", pool},
                           {"avg_pool2d", pool},
                           {"avg_pool3d", pool},
                           {"adaptive_avg_pool1d", adaptive_pool},
                           {"adaptive_avg_pool2d", adaptive_pool},
                           {"adaptive_avg_pool3d", adaptive_pool},
                           {"adaptive_max_pool1d", adaptive_pool},
                           {"adaptive_max_pool2d", adaptive_pool},
                           {"adaptive_max_pool3d", adaptive_pool},
                           {"upsample_nearest1d", upsample},
                           {"upsample_nearest2d", upsample},
                           {"upsample_nearest3d", upsample},
                           {"upsample_linear1d", upsample},
                           {"upsample_bilinear2d", upsample},
                           {"upsample_trilinear3d", upsample},
                           {"upsample_bicubic2d", upsample},
                           {"instance_norm", instance_norm},
                           {"group_norm", group_norm},
                           {"rms_norm", rms_norm},
                           {"normalize", normalize},
                           {"cosine_similarity", cosine_similarity},
                           {"square", square},
                           {"clamp", clamp},
                           {"maximum", extreme},
                           {"minimum", extreme},
                           {"hardsigmoid", hardsigmoid},
                           {"hardswish", by_name_in_onnx},
                           {"selu", by_name_in_onnx},
                           {"celu", celu},
                           {"softplus", softplus},
                           {"mish", mish},
                           {"logsigmoid", log_sigmoid},
                           {"prelu", prelu},
                           {"sum", sum},
                           {"amax", largest},
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
    const bool is_recurrent = onnx_nodes::is_recurrent(call.info.name);
    const std::size_t states = !is_recurrent ? 0 : call.info.name == "lstm" ? 2 : 1;
    OnnxValues in;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        // Without a state a node begins with zeros, for any batch.
        const bool left_out = i > 0 && i <= states && to.is_zeros(call.inputs[i]);
        in.push_back(left_out ? OnnxValue() : to.value(call.inputs[i]));
    }
    if (is_recurrent) return onnx_nodes::recurrent(to, call, in);
    return {onnx_nodes::find(call.info.name)->nodes(to, call, in)};
}

}  // namespace engine
