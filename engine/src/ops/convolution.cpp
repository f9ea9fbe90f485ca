#include "ops/convolution.h"

#include <algorithm>

#include "amp/autocast.h"
#include "engine/error.h"
#include "ops/binary.h"
#include "ops/check.h"
#include "ops/conv_parts.h"
#include "ops/convolution_options.h"
#include "ops/view.h"
#include "ops/wide.h"

namespace engine {
namespace {

using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvolutionOptions&);
using Transposed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&,
                              const ConvTransposeOptions&);

template <Form op>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.at(1), args.get(2), convolution_options(args))};
}
template <Transposed op>
TensorList run_transposed(const OpArguments& args) {
    return {op(args.at(0), args.at(1), args.get(2), conv_transpose_options(args))};
}
TensorList run_tbc(const OpArguments& args) {
    return {conv_tbc(args.at(0), args.at(1), args.at(2), args.integer("pad", 0))};
}
TensorList run_convolution(const OpArguments& args) {
    return {convolution(args.at(0), args.at(1), args.get(2), args.flag("transposed", false),
                        conv_transpose_options(args))};
}

/// x without and with its batch dimension.
Tensor batched(const OpInfo& info, const Tensor& x, int dims) {
    if (x.rank() != dims + 1) {
        check_rank(info, x, dims + 2);
        return x;
    }
    Shape shape{1};
    for (const auto size : x.shape()) shape.push_back(size);
    return reshape(x, shape);
}
Tensor unbatched(const Tensor& y, const Tensor& like) {
    if (y.rank() == like.rank()) return y;
    Shape shape;
    for (int i = 1; i < y.rank(); ++i) shape.push_back(y.size(i));
    return reshape(y, shape);
}

/// A sequence as an image of one row: (a, b, l) is (a, b, 1, l). Others stay.
Tensor raised(const Tensor& x, int dims) {
    return dims == 1 ? reshape(x, {x.size(0), x.size(1), 1, x.size(2)}) : x;
}
Tensor lowered(const Tensor& y, int dims) {
    return dims == 1 ? reshape(y, {y.size(0), y.size(1), y.size(3)}) : y;
}

Shape space_of(const Tensor& x) {
    Shape shape;
    for (int i = 2; i < x.rank(); ++i) shape.push_back(x.size(i));
    return shape;
}

/// What the parts compute: `in` the larger side, x of the convolution.
ConvShape conv_shape(std::int64_t n, std::int64_t c, const Shape& in, const Tensor& weight,
                     const Steps& by, std::int64_t groups) {
    const int dims = in.rank();
    const auto at = [&](const Dims& values, int from_end, std::int64_t otherwise) {
        return from_end <= dims ? values[dims - from_end] : otherwise;
    };
    const Shape kernel = space_of(weight);
    ConvShape s;
    s.plane = {n,
               c,
               at(in, 2, 1),
               at(in, 1, 1),
               weight.size(0),
               at(kernel, 2, 1),
               at(kernel, 1, 1),
               at(by.stride, 2, 1),
               at(by.stride, 1, 1),
               at(by.padding, 2, 0),
               at(by.padding, 1, 0),
               at(by.dilation, 2, 1),
               at(by.dilation, 1, 1),
               groups};
    if (dims == 3) {
        s.has_depth = true;
        s.depth = in[0];
        s.taps = kernel[0];
        s.stride_d = by.stride[0];
        s.pad_d = by.padding[0];
        s.dilation_d = by.dilation[0];
        s.depth_out = (s.depth + 2 * s.pad_d - s.dilation_d * (s.taps - 1) - 1) / s.stride_d + 1;
    }
    return s;
}

void check_bias(const OpInfo& info, const Tensor& bias, const Tensor& weight, std::int64_t size) {
    if (bias.defined()) check_shapes(info, bias.rank() == 1 && bias.size(0) == size, bias, weight);
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
    check_bias(info, bias, weight, weight.size(0));
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

/// Batched and cast; padding by numbers.
Tensor forward(const OpInfo& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const Steps& by, std::int64_t groups) {
    check_forward(info, x, weight, bias, by, groups);
    const int dims = x.rank() - 2;
    const ConvShape s = conv_shape(x.size(0), x.size(1), space_of(x), weight, by, groups);
    return lowered(convolve(info, raised(x, dims), raised(weight, dims), bias, s), dims);
}

/// x with so many zeros at the far end of each dimension of space as whole strides fit into the
/// output padding: what a transposed convolution makes of them is that padding.
Tensor with_room(const Tensor& x, const Steps& by, const Dims& output_padding) {
    Tensor out = x;
    for (int i = 0; i < by.stride.rank(); ++i) {
        const std::int64_t more = output_padding[i] / by.stride[i];
        if (more == 0) continue;
        Shape shape = out.shape();
        shape[i + 2] = more;
        out = cat({out, Tensor::zeros(shape, x.dtype(), x.device())}, i + 2);
    }
    return out;
}

/// Sizes of the result of a transposed convolution.
Shape transposed_space(const OpInfo& info, const Tensor& x, const Tensor& weight, const Steps& by,
                       const Dims& output_padding) {
    Shape space;
    for (int i = 0; i < by.stride.rank(); ++i) {
        const std::int64_t more = output_padding[i];
        if (more < 0 || more >= std::max(by.stride[i], by.dilation[i])) {
            throw Error(ErrorCode::value, std::string(info.name) +
                                              ": output_padding starts at 0 and is below stride "
                                              "or dilation, not " +
                                              std::to_string(more));
        }
        const std::int64_t size = (x.size(i + 2) - 1) * by.stride[i] - 2 * by.padding[i] +
                                  by.dilation[i] * (weight.size(i + 2) - 1) + 1 + more;
        check_shapes(info, size > 0 && x.size(i + 2) > 0 && weight.size(i + 2) > 0, x, weight);
        space.push_back(size);
    }
    return space;
}

/// Batched and cast.
Tensor transposed_forward(const OpInfo& info, const Tensor& x, const Tensor& weight,
                          const Tensor& bias, const ConvTransposeOptions& o) {
    const int dims = x.rank() - 2;
    const Steps by = steps_of(info, dims, o.stride, o.padding, o.dilation, o.groups);
    const Dims more = one_each(info, "output_padding", o.output_padding, dims);
    check_rank(info, weight, x.rank());
    check_shapes(info, x.size(1) == weight.size(0) && x.size(1) % o.groups == 0, x, weight);
    const std::int64_t channels = weight.size(1) * o.groups;
    check_bias(info, bias, weight, channels);
    const Shape space = transposed_space(info, x, weight, by, more);
    const ConvShape s = conv_shape(x.size(0), channels, space, weight, by, o.groups);
    const bool wide = bias.defined();
    const Tensor from = with_room(wide ? widened(x) : x, by, more);
    Tensor y = lowered(conv_input_gradient(info, raised(from, dims),
                                           raised(wide ? widened(weight) : weight, dims), s),
                       dims);
    if (!wide) return y;
    Shape shape{1, channels};
    while (shape.rank() < y.rank()) shape.push_back(1);
    return to(add(y, reshape(widened(bias), shape)), x.dtype());
}

Tensor transpose_space(const OpInfo& info, int dims, const Tensor& x0, const Tensor& weight0,
                       const Tensor& bias0, const ConvTransposeOptions& options) {
    const auto [x, weight, bias] = autocast(info, x0, weight0, bias0);
    one_type(info, {x, weight, bias});
    return unbatched(transposed_forward(info, batched(info, x, dims), weight, bias, options), x);
}

constexpr const char* products_why =
    "Matrix products in disguise: fast in 16 bits, summed in fp32.";
constexpr const char* transposed_why =
    "The gradient of a convolution, used forward: fast in 16 bits, summed in fp32.";

}  // namespace

const OpInfo conv1d_info{
    "conv1d", CastPolicy::low, "conv1d(x, weight, bias?; stride, padding, dilation, groups)",
    2,        products_why,    run<conv1d>};
const OpInfo conv3d_info{
    "conv3d", CastPolicy::low, "conv3d(x, weight, bias?; stride, padding, dilation, groups)",
    2,        products_why,    run<conv3d>};
const OpInfo conv_transpose1d_info{
    "conv_transpose1d",
    CastPolicy::low,
    "conv_transpose1d(x, weight, bias?; stride, padding, output_padding, groups, dilation)",
    2,
    transposed_why,
    run_transposed<conv_transpose1d>};
const OpInfo conv_transpose2d_info{
    "conv_transpose2d",
    CastPolicy::low,
    "conv_transpose2d(x, weight, bias?; stride, padding, output_padding, groups, dilation)",
    2,
    transposed_why,
    run_transposed<conv_transpose2d>};
const OpInfo conv_transpose3d_info{
    "conv_transpose3d",
    CastPolicy::low,
    "conv_transpose3d(x, weight, bias?; stride, padding, output_padding, groups, dilation)",
    2,
    transposed_why,
    run_transposed<conv_transpose3d>};
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
    const Tensor batch = batched(info, x, dims);
    Steps by = steps_of(info, dims, o.stride, o.padding, o.dilation, o.groups);
    if (!o.same) return unbatched(forward(info, batch, weight, bias, by, o.groups), x);
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
    return unbatched(y, x);
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    return convolve_space(conv1d_info, 1, x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    return convolve_space(conv3d_info, 3, x, weight, bias, options);
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
    return transpose_space(conv_transpose1d_info, 1, x, weight, bias, options);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
    return transpose_space(conv_transpose2d_info, 2, x, weight, bias, options);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
    return transpose_space(conv_transpose3d_info, 3, x, weight, bias, options);
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
    if (transposed) return transposed_forward(convolution_info, x, weight, bias, o);
    const Steps by = steps_of(convolution_info, dims, o.stride, o.padding, o.dilation, o.groups);
    return forward(convolution_info, x, weight, bias, by, o.groups);
}

}  // namespace engine
