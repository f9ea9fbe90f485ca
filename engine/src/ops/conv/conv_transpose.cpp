#include "ops/conv/conv_transpose.h"

#include <algorithm>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/conv/conv_shape.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "ops/vision/pad.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

/// Sizes of the result of a transposed convolution.
Shape transposed_space(const Op& info, const Tensor& x, const Tensor& weight, const Steps& by,
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
        const std::int64_t reach = checked_sum(checked_product(x.size(i + 2) - 1, by.stride[i]),
                                               window_span(weight.size(i + 2), by.dilation[i]));
        const std::int64_t size = checked_sum(reach, more) - 2 * by.padding[i];
        check_shapes(info, size > 0 && x.size(i + 2) > 0 && weight.size(i + 2) > 0, x, weight);
        space.push_back(size);
    }
    return space;
}

/// The size that the parts compute, and the cuts and zeros at the ends (in the form of
/// `constant_pad`) that turn it into the result. They are needed where the output padding contains
/// whole strides: no convolution of such a result has x's size.
struct Reach {
    Steps by;
    Shape space;
    std::vector<std::int64_t> ends;
};

Reach reach_of(const Tensor& x, const Tensor& weight, const Steps& by, const Dims& output_padding,
               const Shape& space) {
    Reach out{by, space, {}};
    const int dims = by.stride.rank();
    for (int i = 0; i < dims; ++i) {
        if (output_padding[i] < by.stride[i]) continue;
        out.ends.resize(2 * static_cast<std::size_t>(dims), 0);
        const auto at = 2 * static_cast<std::size_t>(dims - 1 - i);
        out.ends[at] = -by.padding[i];
        out.ends[at + 1] = output_padding[i] - by.padding[i];
        out.by.padding[i] = 0;
        out.space[i] =
            (x.size(i + 2) - 1) * by.stride[i] + by.dilation[i] * (weight.size(i + 2) - 1) + 1;
    }
    return out;
}

Tensor transpose_space(const Op& op, int dims, const Tensor& x0, const Tensor& weight0,
                       const Tensor& bias0, const ConvTransposeOptions& options) {
    return op.call(x0, weight0, bias0, options,
                   [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
                       one_type(op, {x, weight, bias});
                       const Tensor batch = with_batch(op, x, dims);
                       return without_batch(
                           transposed_convolution(op, batch, weight, bias, options), x, dims);
                   });
}

}  // namespace

Tensor transposed_convolution(const Op& info, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, const ConvTransposeOptions& o) {
    const int dims = x.rank() - 2;
    const Steps by = steps_of(info, dims, o.stride, o.padding, o.dilation, o.groups);
    const Dims more = one_each(info, "output_padding", o.output_padding, dims);
    check_rank(info, weight, x.rank());
    check_shapes(info, x.size(1) == weight.size(0) && x.size(1) % o.groups == 0, x, weight);
    const std::int64_t channels = checked_product(weight.size(1), o.groups);
    check_conv_bias(info, bias, weight, channels);
    const Shape space = transposed_space(info, x, weight, by, more);
    const Reach reach = reach_of(x, weight, by, more, space);
    const ConvShape s = conv_shape(x.size(0), channels, reach.space, weight, reach.by, o.groups);
    const bool wide = bias.defined();
    Tensor y =
        conv_lowered(conv_input_gradient(info, conv_raised(x, dims), conv_raised(weight, dims), s,
                                         wide ? wide_type(x.dtype()) : x.dtype()),
                     dims);
    if (!reach.ends.empty()) y = constant_pad(y, reach.ends);
    if (!wide) return y;
    Shape shape{1, channels};
    while (shape.rank() < y.rank()) shape.push_back(1);
    return to(add(y, reshape(widened(bias), shape)), x.dtype());
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
    return transpose_space(conv_transpose1d_op, 1, x, weight, bias, options);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
    return transpose_space(conv_transpose2d_op, 2, x, weight, bias, options);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
    return transpose_space(conv_transpose3d_op, 3, x, weight, bias, options);
}

}  // namespace engine
