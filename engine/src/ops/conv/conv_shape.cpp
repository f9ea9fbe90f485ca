#include "ops/conv/conv_shape.h"

#include "engine/base/error.h"
#include "ops/conv/conv_transpose.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {
namespace {

Shape kernel_of(const Tensor& weight) {
    Shape shape;
    for (int i = 2; i < weight.rank(); ++i) shape.push_back(weight.size(i));
    return shape;
}

}  // namespace

Tensor conv_raised(const Tensor& x, int dims) {
    return dims == 1 ? reshape(x, {x.size(0), x.size(1), 1, x.size(2)}) : x;
}
Tensor conv_lowered(const Tensor& y, int dims) {
    return dims == 1 ? reshape(y, {y.size(0), y.size(1), y.size(3)}) : y;
}

ConvShape conv_shape(std::int64_t n, std::int64_t c, const Shape& in, const Tensor& weight,
                     const Steps& by, std::int64_t groups) {
    const int dims = in.rank();
    const auto at = [&](const Dims& values, int from_end, std::int64_t otherwise) {
        return from_end <= dims ? values[dims - from_end] : otherwise;
    };
    const Shape kernel = kernel_of(weight);
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

void check_conv_bias(const Op& info, const Tensor& bias, const Tensor& weight,
                     std::int64_t size) {
    if (bias.defined()) check_shapes(info, bias.rank() == 1 && bias.size(0) == size, bias, weight);
}

}  // namespace engine
