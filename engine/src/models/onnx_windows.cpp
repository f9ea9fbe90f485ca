#include <algorithm>

#include "engine/base/plain_text.h"
#include "models/onnx_nodes.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/pool/pool.h"
#include "ops/vision/upsample.h"

/// Convolutions, pools and resizing in one to three dimensions.
namespace engine::onnx_nodes {
namespace {

/// A number for each dimension, given one by one or for all.
template <typename T>
Sizes spread(const T& values, std::size_t dims) {
    Sizes out;
    for (std::size_t dim = 0; dim < dims; ++dim) out.push_back(values[dim % values.size()]);
    return out;
}

OnnxAttributes window(const Sizes& kernel, const Sizes& stride, const Sizes& before, const Sizes& after, const Sizes& dilation) {
    Sizes pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    return {{"kernel_shape", kernel}, {"strides", stride}, {"pads", pads}, {"dilations", dilation}};
}

template <typename Options>
OnnxAttributes strided(const TracedCall& call, const Options& options) {
    const Shape& weight = call.inputs[1].shape();
    const Sizes kernel(weight.begin() + 2, weight.end());
    const Sizes dilation = spread(options.dilation, kernel.size());
    Sizes before = spread(options.padding, kernel.size()), after = before;
    if constexpr (requires { options.same; }) {
        for (std::size_t dim = 0; options.same && dim < kernel.size(); ++dim) {
            const std::int64_t all = dilation[dim] * (kernel[dim] - 1);
            before[dim] = all / 2;
            after[dim] = all - all / 2;
        }
    }
    OnnxAttributes out = window(kernel, spread(options.stride, kernel.size()), before, after, dilation);
    out["group"] = options.groups;
    return out;
}

/// "max_pool2d" has 2.
std::size_t named_dims(const TracedCall& call) {
    return static_cast<std::size_t>(call.info.name[call.info.name.size() - 2] - '0');
}

/// (in, out): the mean of the part of a dimension that each of its new places has.
Tensor part_means(std::int64_t in, std::int64_t out) {
    std::vector<double> weights(static_cast<std::size_t>(in * out), 0);
    for (std::int64_t place = 0; place < out; ++place) {
        const std::int64_t from = place * in / out, to = ((place + 1) * in + out - 1) / out;
        for (std::int64_t i = from; i < to; ++i) weights[static_cast<std::size_t>(i * out + place)] = 1 / static_cast<double>(to - from);
    }
    return Tensor::of(weights, {in, out}, DType::f32, Device{});
}

/// Means of parts that are not all of one size, as products of matrices: (N, C, W) or (N, C, H, W).
OnnxValue uneven_means(OnnxTrace& to, const TracedCall& call, const OnnxValue& in) {
    const Tensor &x = call.inputs[0], &y = call.outputs[0];
    const int last = x.rank() - 1;
    const OnnxValue columns = to.node("MatMul", {in, to.value(part_means(x.size(last), y.size(last)))});
    if (last == 2) return columns;
    const OnnxValue rows = to.node("Transpose", {to.value(part_means(x.size(2), y.size(2)))}, {{"perm", Sizes{1, 0}}});
    return to.node("MatMul", {rows, columns});
}

/// Whether the last windows reach beyond the padding.
bool rounds_up(const TracedCall& call, const Sizes& kernel, const Sizes& strides, const Sizes& padding,
               const Sizes& dilation) {
    for (std::size_t dim = 0; dim < kernel.size(); ++dim) {
        const std::int64_t covered = dilation[dim] * (kernel[dim] - 1) + 1;
        const int at = call.inputs[0].rank() - static_cast<int>(kernel.size() - dim);
        const std::int64_t room = call.inputs[0].size(at) + 2 * padding[dim] - covered;
        if (call.outputs[0].size(at) - 1 > room / strides[dim]) return true;
    }
    return false;
}

}  // namespace

OnnxValue convolution(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    if (const auto* options = call.find<Conv2dOptions>()) return to.node("Conv", in, strided(call, *options));
    return to.node("Conv", in, strided(call, *call.find<ConvolutionOptions>()));
}

OnnxValue conv_transpose(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& options = *call.find<ConvTransposeOptions>();
    OnnxAttributes attributes = strided(call, options);
    attributes["output_padding"] = spread(options.output_padding, static_cast<std::size_t>(call.inputs[1].rank()) - 2);
    return to.node("ConvTranspose", in, attributes);
}

OnnxValue pool(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& o = *call.find<PoolOptions>();
    const std::size_t dims = named_dims(call);
    const Sizes kernel = spread(o.kernel, dims), padding = spread(o.padding, dims), dilation = spread(o.dilation, dims);
    const Sizes strides = spread(o.stride.empty() ? o.kernel : o.stride, dims);
    const bool further = rounds_up(call, kernel, strides, padding, dilation);
    OnnxAttributes attributes = window(kernel, strides, padding, padding, dilation);
    attributes["ceil_mode"] = std::int64_t{further};
    if (call.info.name.starts_with("max")) return to.node("MaxPool", in, attributes);
    // Runtimes disagree about the divisor of a window that reaches beyond the padding.
    if (o.divisor_override || (further && o.count_include_pad)) refuse_form(call);
    attributes.erase("dilations");
    attributes["count_include_pad"] = std::int64_t{o.count_include_pad};
    return to.node("AveragePool", in, attributes);
}

OnnxValue adaptive_pool(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const Tensor &x = call.inputs[0], &y = call.outputs[0];
    const auto dims = static_cast<int>(named_dims(call));
    const bool largest = call.info.name.starts_with("adaptive_max");
    if (x.rank() != dims + 2) refuse_form(call);
    Sizes kernel;
    bool whole = true, even = true;
    for (int dim = 2; dim < x.rank(); ++dim) {
        even = even && x.size(dim) % y.size(dim) == 0;
        kernel.push_back(x.size(dim) / y.size(dim));
        whole = whole && y.size(dim) == 1;
    }
    if (!even && !largest && dims < 3) return uneven_means(to, call, in[0]);
    if (!even) refuse_form(call);
    if (whole) return to.node(largest ? "GlobalMaxPool" : "GlobalAveragePool", in);
    return to.node(largest ? "MaxPool" : "AveragePool", in, {{"kernel_shape", kernel}, {"strides", kernel}});
}

OnnxValue upsample(OnnxTrace& to, const TracedCall& call, const OnnxValues& in) {
    const auto& target = *call.find<UpsampleTarget>();
    const bool* const corners = call.find<bool>();
    if (target.scale_factors.empty()) refuse_form(call);
    std::vector<double> scales(2, 1);
    scales.insert(scales.end(), target.scale_factors.begin(), target.scale_factors.end());
    const std::string name = "scales." + join(scales, "_", [](double scale) { return shortest_text(scale); });
    const Tensor factors = Tensor::of(scales, {static_cast<std::int64_t>(scales.size())}, DType::f32, Device{});
    const bool nearest = call.info.name.find("nearest") != std::string_view::npos;
    OnnxAttributes attributes = {{"mode", std::string(nearest ? "nearest" : call.info.name.find("cubic") != std::string_view::npos ? "cubic" : "linear")},
                                 {"coordinate_transformation_mode", std::string(nearest ? "asymmetric" : corners != nullptr && *corners ? "align_corners" : "half_pixel")}};
    if (nearest) attributes["nearest_mode"] = std::string("floor");
    return to.node("Resize", {in[0], "", to.statistic(name, factors)}, attributes);
}

}  // namespace engine::onnx_nodes
