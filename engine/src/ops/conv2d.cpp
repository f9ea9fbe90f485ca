#include "ops/conv2d.h"

#include "amp/autocast.h"
#include "engine/error.h"
#include "ops/check.h"
#include "ops/conv_parts.h"
#include "ops/convolution_options.h"
#include "ops/view.h"

namespace engine {
namespace {

using kernels::Conv2dShape;

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

Conv2dShape shape_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& o) {
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

}  // namespace

const OpInfo conv2d_info{"conv2d",
                         CastPolicy::low,
                         "conv2d(x, weight, bias?; stride, padding, dilation, groups)",
                         2,
                         "Matrix products in disguise: fast in 16 bits, summed in fp32.",
                         run_conv2d};

Tensor conv2d(const Tensor& x0, const Tensor& weight0, const Tensor& bias0,
              const Conv2dOptions& options) {
    if (x0.rank() == 3) {
        const Tensor y =
            conv2d(reshape(x0, {1, x0.size(0), x0.size(1), x0.size(2)}), weight0, bias0, options);
        return reshape(y, {y.size(1), y.size(2), y.size(3)});
    }
    const auto [x, weight, bias] = autocast(conv2d_info, x0, weight0, bias0);
    one_type(conv2d_info, {x, weight, bias});
    const Conv2dShape s = shape_of(x, weight, options);
    if (bias.defined())
        check_shapes(conv2d_info, bias.rank() == 1 && bias.size(0) == s.k, bias, weight);
    return convolve(conv2d_info, x, weight, bias, {s});
}

}  // namespace engine
