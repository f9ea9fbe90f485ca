#include "ops/conv/convolution.h"

#include <algorithm>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/conv_transpose.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "ops/vision/pad.h"
#include "tensor/check.h"

namespace engine {
namespace {

using kernels::Conv2dShape;
using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvolutionOptions&);

template <Form op>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.at(1), args.get(2), convolution_options(args))};
}
TensorList run_tbc(const OpArguments& args) {
    return {conv_tbc(args.at(0), args.at(1), args.at(2), args.integer("pad", 0))};
}
TensorList run_convolution(const OpArguments& args) {
    return {convolution(args.at(0), args.at(1), args.get(2), args.flag("transposed", false),
                        conv_transpose_options(args))};
}
template <Tensor (*op)(const Tensor&, const Tensor&, const ConvTransposeOptions&)>
TensorList run_cudnn(const OpArguments& args) {
    return {op(args.at(0), args.at(1), conv_transpose_options(args))};
}

std::array<std::int64_t, 2> pair(const OpArguments& args, const char* attr,
                                 std::int64_t otherwise) {
    const auto values = args.integers(attr, {otherwise});
    if (values.empty() || values.size() > 2) {
        throw Error(ErrorCode::value, std::string(attr) + ": one or two whole numbers, not " +
                                          std::to_string(values.size()));
    }
    return {values.front(), values.back()};
}

TensorList run_conv2d(const OpArguments& args) {
    if (has_padding_word(args)) {
        return {convolve_space(conv2d_info, 2, args.at(0), args.at(1), args.get(2),
                               convolution_options(args))};
    }
    const Conv2dOptions options{pair(args, "stride", 1), pair(args, "padding", 0),
                                pair(args, "dilation", 1), args.integer("groups", 1)};
    return {conv2d(args.at(0), args.at(1), args.get(2), options)};
}

Conv2dShape plane_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& o) {
    check_rank(conv2d_info, x, 4);
    check_rank(conv2d_info, weight, 4);
    const auto list = [](const std::array<std::int64_t, 2>& values) {
        return std::vector<std::int64_t>(values.begin(), values.end());
    };
    steps_of(conv2d_info, 2, list(o.stride), list(o.padding), list(o.dilation), o.groups);
    check_shapes(
        conv2d_info,
        x.size(1) == checked_product(weight.size(1), o.groups) && weight.size(0) % o.groups == 0, x,
        weight);
    const Conv2dShape s{x.size(0),      x.size(1),      x.size(2),     x.size(3),   weight.size(0),
                        weight.size(2), weight.size(3), o.stride[0],   o.stride[1], o.padding[0],
                        o.padding[1],   o.dilation[0],  o.dilation[1], o.groups};
    const bool fits = padded_size(s.h, s.pad_h) >= window_span(s.r, s.dilation_h) &&
                      padded_size(s.w, s.pad_w) >= window_span(s.s, s.dilation_w);
    check_shapes(conv2d_info, fits && s.r > 0 && s.s > 0, x, weight);
    return s;
}

void check_forward(const OpInfo& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Steps& by, std::int64_t groups) {
    check_rank(info, weight, x.rank());
    check_shapes(
        info, x.size(1) == checked_product(weight.size(1), groups) && weight.size(0) % groups == 0,
        x, weight);
    for (int i = 0; i + 2 < x.rank(); ++i) {
        const std::int64_t room = padded_size(x.size(i + 2), by.padding[i]);
        const std::int64_t size = weight.size(i + 2);
        const bool fits =
            size > 0 && x.size(i + 2) > 0 && room >= window_span(size, by.dilation[i]);
        check_shapes(info, fits, x, weight);
    }
    check_conv_bias(info, bias, weight, weight.size(0));
}

/// x with the extra zero of an odd padding "same" at the far ends, as in PyTorch. `by` receives the
/// remaining padding, which is equal at both ends.
Tensor with_same_padding(const OpInfo& info, const Tensor& x, const Tensor& weight,
                         const Tensor& bias, Steps& by, std::int64_t groups) {
    const int dims = by.stride.rank();
    std::vector<std::int64_t> odd(2 * static_cast<std::size_t>(dims), 0);
    Dims least;
    for (int i = 0; i < dims; ++i) {
        const std::int64_t total = window_span(weight.size(i + 2), by.dilation[i]) - 1;
        by.padding[i] = (total + 1) / 2;
        least.push_back(total / 2);
        odd[2 * static_cast<std::size_t>(dims - 1 - i) + 1] = total % 2;
    }
    check_forward(info, x, weight, bias, by, groups);
    by.padding = least;
    const bool even = std::count(odd.begin(), odd.end(), 0) == 2 * dims;
    return even ? x : constant_pad(x, odd);
}

Shape space_of(const Tensor& x) {
    Shape shape;
    for (int i = 2; i < x.rank(); ++i) shape.push_back(x.size(i));
    return shape;
}

/// Batched and cast; padding by numbers.
Tensor forward(const OpInfo& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const Steps& by, std::int64_t groups) {
    check_forward(info, x, weight, bias, by, groups);
    const int dims = x.rank() - 2;
    const ConvShape s = conv_shape(x.size(0), x.size(1), space_of(x), weight, by, groups);
    return conv_lowered(convolve(info, conv_raised(x, dims), conv_raised(weight, dims), bias, s),
                        dims);
}

/// The general entry under the name of `info`.
Tensor convolve_batch(const OpInfo& info, const Tensor& x0, const Tensor& weight0,
                      const Tensor& bias0, bool transposed, const ConvTransposeOptions& o) {
    const auto [x, weight, bias] = autocast(info, x0, weight0, bias0);
    one_type(info, {x, weight, bias});
    const int dims = x.rank() - 2;
    if (dims < 1 || dims > 3) {
        throw Error(ErrorCode::shape, std::string(info.name) +
                                          ": takes a batch of sequences, images or volumes, not a "
                                          "shape of " +
                                          to_string(x.shape()));
    }
    if (transposed) return transposed_convolution(info, x, weight, bias, o);
    const Steps by = steps_of(info, dims, o.stride, o.padding, o.dilation, o.groups);
    return forward(info, x, weight, bias, by, o.groups);
}

constexpr const char* products_why =
    "Matrix products in disguise: fast in 16 bits, summed in fp32.";

}  // namespace

const OpInfo conv1d_info{
    "conv1d", CastPolicy::low, "conv1d(x, weight, bias?; stride, padding, dilation, groups)",
    2,        products_why,    run<conv1d>};
const OpInfo conv2d_info{"conv2d",
                         CastPolicy::low,
                         "conv2d(x, weight, bias?; stride, padding, dilation, groups)",
                         2,
                         "Matrix products in disguise: fast in 16 bits, summed in fp32.",
                         run_conv2d};
const OpInfo conv3d_info{
    "conv3d", CastPolicy::low, "conv3d(x, weight, bias?; stride, padding, dilation, groups)",
    2,        products_why,    run<conv3d>};
const OpInfo conv_tbc_info{"conv_tbc", CastPolicy::low, "conv_tbc(x, weight, bias; pad)",
                           2,          products_why,    run_tbc};
const OpInfo convolution_info{
    "convolution",
    CastPolicy::low,
    "convolution(x, weight, bias?; stride, padding, dilation, transposed, output_padding, groups)",
    2,
    products_why,
    run_convolution};
const OpInfo cudnn_convolution_info{
    "cudnn_convolution",
    CastPolicy::low,
    "cudnn_convolution(x, weight; padding, stride, dilation, groups)",
    2,
    "cuDNN's convolution, called directly: products in 16 bits, summed in fp32.",
    run_cudnn<cudnn_convolution>};
const OpInfo cudnn_convolution_transpose_info{
    "cudnn_convolution_transpose",
    CastPolicy::low,
    "cudnn_convolution_transpose(x, weight; padding, output_padding, stride, dilation, groups)",
    2,
    "cuDNN's gradient of a convolution, used forward: products in 16 bits, summed in fp32.",
    run_cudnn<cudnn_convolution_transpose>};

Tensor convolve_space(const OpInfo& info, int dims, const Tensor& x0, const Tensor& weight0,
                      const Tensor& bias0, const ConvolutionOptions& o) {
    const auto [x, weight, bias] = autocast(info, x0, weight0, bias0);
    one_type(info, {x, weight, bias});
    const Tensor batch = with_batch(info, x, dims);
    Steps by = steps_of(info, dims, o.stride, o.padding, o.dilation, o.groups);
    if (!o.same) return without_batch(forward(info, batch, weight, bias, by, o.groups), x, dims);
    check_rank(info, weight, dims + 2);
    if (std::count(by.stride.begin(), by.stride.end(), 1) != dims) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": padding \"same\" goes with a stride of 1 only");
    }
    const Tensor padded = with_same_padding(info, batch, weight, bias, by, o.groups);
    return without_batch(forward(info, padded, weight, bias, by, o.groups), x, dims);
}

Tensor conv2d(const Tensor& x0, const Tensor& weight0, const Tensor& bias0,
              const Conv2dOptions& options) {
    if (intercepted(conv2d_info))
        return dispatched(
            conv2d_info, [](const auto&... a) { return conv2d(a...); }, x0, weight0, bias0,
            options);
    if (x0.rank() == 3) {
        const Tensor y =
            conv2d(reshape(x0, {1, x0.size(0), x0.size(1), x0.size(2)}), weight0, bias0, options);
        return reshape(y, {y.size(1), y.size(2), y.size(3)});
    }
    const auto [x, weight, bias] = autocast(conv2d_info, x0, weight0, bias0);
    one_type(conv2d_info, {x, weight, bias});
    const Conv2dShape s = plane_of(x, weight, options);
    if (bias.defined())
        check_shapes(conv2d_info, bias.rank() == 1 && bias.size(0) == s.k, bias, weight);
    return convolve(conv2d_info, x, weight, bias, {s});
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    if (intercepted(conv1d_info))
        return dispatched(
            conv1d_info, [](const auto&... a) { return conv1d(a...); }, x, weight, bias, options);
    return convolve_space(conv1d_info, 1, x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    if (intercepted(conv3d_info))
        return dispatched(
            conv3d_info, [](const auto&... a) { return conv3d(a...); }, x, weight, bias, options);
    return convolve_space(conv3d_info, 3, x, weight, bias, options);
}

Tensor conv_tbc(const Tensor& x0, const Tensor& weight0, const Tensor& bias0, std::int64_t pad) {
    if (intercepted(conv_tbc_info))
        return dispatched(
            conv_tbc_info, [](const auto&... a) { return conv_tbc(a...); }, x0, weight0, bias0,
            pad);
    const auto [x, weight, bias] = autocast(conv_tbc_info, x0, weight0, bias0);
    one_type(conv_tbc_info, {x, weight, bias});
    check_rank(conv_tbc_info, x, 3);
    check_rank(conv_tbc_info, weight, 3);
    const Steps by = steps_of(conv_tbc_info, 3, {1}, {pad, 0, 0}, {1}, 1);
    const std::int64_t time = x.size(0), batch = x.size(1), channels = x.size(2);
    const bool fits = time > 0 && weight.size(0) > 0 && time + 2 * pad >= weight.size(0);
    check_shapes(conv_tbc_info, fits && channels == weight.size(1), x, weight);
    check_conv_bias(conv_tbc_info, bias, weight, weight.size(2));
    // Time is depth, the batch a row of pixels: so padding has no part in any sum, as in PyTorch's.
    const Tensor volume = reshape(permute(x, {2, 0, 1}), {1, channels, time, 1, batch});
    const Tensor kernel =
        reshape(permute(weight, {2, 1, 0}), {weight.size(2), channels, weight.size(0), 1, 1});
    const ConvShape s = conv_shape(1, channels, space_of(volume), kernel, by, 1);
    const Tensor y = convolve(conv_tbc_info, volume, kernel, bias, s);
    return permute(reshape(y, {y.size(1), y.size(2), y.size(4)}), {1, 2, 0});
}

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, bool transposed,
                   const ConvTransposeOptions& options) {
    if (intercepted(convolution_info))
        return dispatched(
            convolution_info, [](const auto&... a) { return convolution(a...); }, x, weight, bias,
            transposed, options);
    return convolve_batch(convolution_info, x, weight, bias, transposed, options);
}
Tensor cudnn_convolution(const Tensor& x, const Tensor& weight,
                         const ConvTransposeOptions& options) {
    if (intercepted(cudnn_convolution_info))
        return dispatched(
            cudnn_convolution_info, [](const auto&... a) { return cudnn_convolution(a...); }, x,
            weight, options);
    return convolve_batch(cudnn_convolution_info, x, weight, {}, false, options);
}
Tensor cudnn_convolution_transpose(const Tensor& x, const Tensor& weight,
                                   const ConvTransposeOptions& options) {
    if (intercepted(cudnn_convolution_transpose_info))
        return dispatched(
            cudnn_convolution_transpose_info,
            [](const auto&... a) { return cudnn_convolution_transpose(a...); }, x, weight, options);
    return convolve_batch(cudnn_convolution_transpose_info, x, weight, {}, true, options);
}

}  // namespace engine
