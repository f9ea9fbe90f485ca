#include "ops/convolution.h"

#include <algorithm>

#include "amp/autocast.h"
#include "engine/error.h"
#include "ops/batch.h"
#include "ops/check.h"
#include "ops/conv_space.h"
#include "ops/view.h"

namespace engine {
namespace {

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

void check_forward(const OpInfo& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Steps& by, std::int64_t groups) {
    check_rank(info, weight, x.rank());
    check_shapes(info, x.size(1) == weight.size(1) * groups && weight.size(0) % groups == 0, x,
                 weight);
    for (int i = 0; i + 2 < x.rank(); ++i) {
        const std::int64_t room = x.size(i + 2) + 2 * by.padding[i], size = weight.size(i + 2);
        const bool fits = size > 0 && x.size(i + 2) > 0 && room >= by.dilation[i] * (size - 1) + 1;
        check_shapes(info, fits, x, weight);
    }
    check_conv_bias(info, bias, weight, weight.size(0));
}

/// Padding on both ends that is enough for the larger one, and what is then too much in front.
struct SamePadding {
    Dims padding, surplus;
};

SamePadding same_padding(const Tensor& weight, const Steps& by) {
    SamePadding out;
    for (int i = 0; i < by.stride.rank(); ++i) {
        const std::int64_t total = by.dilation[i] * (weight.size(i + 2) - 1);
        out.padding.push_back((total + 1) / 2);
        out.surplus.push_back(total % 2);
    }
    return out;
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

constexpr const char* products_why =
    "Matrix products in disguise: fast in 16 bits, summed in fp32.";

}  // namespace

const OpInfo conv1d_info{
    "conv1d", CastPolicy::low, "conv1d(x, weight, bias?; stride, padding, dilation, groups)",
    2,        products_why,    run<conv1d>};
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
    const SamePadding same = same_padding(weight, by);
    by.padding = same.padding;
    Tensor y = forward(info, batch, weight, bias, by, o.groups);
    for (int i = 0; i < dims; ++i) {
        if (same.surplus[i] > 0) y = narrow(y, i + 2, 1, y.size(i + 2) - 1);
    }
    return without_batch(y, x, dims);
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    return convolve_space(conv1d_info, 1, x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    return convolve_space(conv3d_info, 3, x, weight, bias, options);
}

Tensor conv_tbc(const Tensor& x0, const Tensor& weight0, const Tensor& bias0, std::int64_t pad) {
    const auto [x, weight, bias] = autocast(conv_tbc_info, x0, weight0, bias0);
    one_type(conv_tbc_info, {x, weight, bias});
    check_rank(conv_tbc_info, x, 3);
    check_rank(conv_tbc_info, weight, 3);
    const Steps by = steps_of(conv_tbc_info, 1, {1}, {pad}, {1}, 1);
    const Tensor y =
        forward(conv_tbc_info, permute(x, {1, 2, 0}), permute(weight, {2, 1, 0}), bias, by, 1);
    return permute(y, {2, 0, 1});
}

Tensor convolution(const Tensor& x0, const Tensor& weight0, const Tensor& bias0, bool transposed,
                   const ConvTransposeOptions& o) {
    const auto [x, weight, bias] = autocast(convolution_info, x0, weight0, bias0);
    one_type(convolution_info, {x, weight, bias});
    const int dims = x.rank() - 2;
    if (dims < 1 || dims > 3) {
        throw Error(ErrorCode::shape,
                    "convolution: takes a batch of sequences, images or "
                    "volumes, not a shape of " +
                        to_string(x.shape()));
    }
    if (transposed) return transposed_convolution(convolution_info, x, weight, bias, o);
    const Steps by = steps_of(convolution_info, dims, o.stride, o.padding, o.dilation, o.groups);
    return forward(convolution_info, x, weight, bias, by, o.groups);
}

}  // namespace engine
