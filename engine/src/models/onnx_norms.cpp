// ONNX's nodes of norms: computed in f32, since a variance easily leaves the range of fp16.
#include <optional>

#include "engine/base/plain_text.h"
#include "models/onnx_nodes.h"
#include "ops/norm/batch_norm.h"

namespace engine::onnx_nodes {
namespace {

/// A vector of one value, for a place where f32 is computed with.
OnnxValue wide_constant(OnnxTrace& to, double value, std::int64_t size) {
    return to.statistic("constant_" + std::to_string(size) + '.' + shortest_text(value), Tensor::full({size}, value, DType::f32, Device{}));
}

/// x / max(|x|, eps) along a dimension.
OnnxValue unit_vectors(OnnxTrace& to, const OnnxValue& x, std::int64_t dim, double eps) {
    const OnnxValue norm = to.node("ReduceL2", {x}, {{"axes", Sizes{dim}}, {"keepdims", std::int64_t{1}}});
    return to.node("Div", {x, to.node("Max", {norm, wide_constant(to, eps, 1)})});
}

}  // namespace

OnnxValue widened(OnnxTrace& to, const OnnxValue& x) {
    return to.dtype() == DType::f32 ? x : to.node("Cast", {x}, {{"to", onnx_type(DType::f32)}});
}
OnnxValue narrowed(OnnxTrace& to, const OnnxValue& x) {
    return to.dtype() == DType::f32 ? x : to.node("Cast", {x}, {{"to", onnx_type(to.dtype())}});
}

OnnxValue beside_channels(OnnxTrace& to, const OnnxValue& weight, const Tensor& x) {
    if (x.rank() < 3) return weight;
    Sizes shape(static_cast<std::size_t>(x.rank()) - 1, 1);
    shape[0] = x.size(1);
    return to.node("Reshape", {weight, to.integers(shape)});
}

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

OnnxValue instance_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& t = *call.find<BatchNormTensors>();
    const auto& options = *call.find<BatchNormOptions>();
    if (!options.training) refuse_form(call);
    const std::int64_t channels = call.inputs[0].size(1);
    const auto factor = [&](const char* name, const Tensor& tensor, double otherwise) {
        return tensor.defined() ? to.statistic(current_module() + name, tensor) : wide_constant(to, otherwise, channels);
    };
    return narrowed(to, to.node("InstanceNormalization", {widened(to, in[0]), factor(".weight", t.weight, 1), factor(".bias", t.bias, 0)},
                                {{"epsilon", options.eps}}));
}

OnnxValue group_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Tensor& x = call.inputs[0];
    const std::int64_t groups = *call.find<std::int64_t>();
    const OnnxValue rows = to.node("Reshape", {widened(to, in[0]), to.integers({0, groups, -1})});
    const OnnxValue normal = to.node("InstanceNormalization", {rows, wide_constant(to, 1, groups), wide_constant(to, 0, groups)},
                                     {{"epsilon", *call.find<double>()}});
    Sizes shape(x.shape().begin(), x.shape().end());
    shape[0] = 0;  // as it is
    OnnxValue y = to.node("Reshape", {normal, to.integers(shape)});
    if (in.size() > 1) y = to.node("Mul", {y, beside_channels(to, widened(to, in[1]), x)});
    if (in.size() > 2) y = to.node("Add", {y, beside_channels(to, widened(to, in[2]), x)});
    return narrowed(to, y);
}

OnnxValue rms_norm(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto* eps = call.find<std::optional<double>>();
    if (in.size() < 2 || eps == nullptr || !*eps) refuse_form(call);
    Sizes axes;
    for (int dim = call.inputs[1].rank(); dim > 0; --dim) axes.push_back(-dim);
    const OnnxValue x = widened(to, in[0]);
    const OnnxValue mean = to.node("ReduceMean", {to.node("Mul", {x, x})}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
    const OnnxValue norm = to.node("Sqrt", {to.node("Add", {mean, wide_constant(to, **eps, 1)})});
    return narrowed(to, to.node("Mul", {to.node("Div", {x, norm}), widened(to, in[1])}));
}

OnnxValue normalize(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    std::vector<double> numbers;  // p, eps
    for (const CallArgument& each : call.arguments)
        if (const auto* number = each.as<double>()) numbers.push_back(*number);
    if (numbers.size() != 2 || numbers[0] != 2) refuse_form(call);
    return narrowed(to, unit_vectors(to, widened(to, in[0]), *call.find<std::int64_t>(), numbers[1]));
}

OnnxValue cosine_similarity(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const std::int64_t dim = *call.find<std::int64_t>();
    const double eps = *call.find<double>();
    const OnnxValue products = to.node("Mul", {unit_vectors(to, widened(to, in[0]), dim, eps), unit_vectors(to, widened(to, in[1]), dim, eps)});
    return narrowed(to, to.node("ReduceSum", {products, to.integers({dim})}, {{"keepdims", std::int64_t{0}}}));
}

}  // namespace engine::onnx_nodes
