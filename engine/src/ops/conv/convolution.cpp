#include "ops/conv/convolution.h"

#include <algorithm>
#include <utility>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/quantized_convolution.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "ops/vision/pad.h"
#include "tensor/check.h"

namespace engine {
namespace {

using kernels::Conv2dShape;

std::vector<std::int64_t> listed_sizes(const std::array<std::int64_t, 2>& values) {
    return {values.begin(), values.end()};
}

Conv2dShape plane_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& o) {
    check_rank(conv2d_op, x, 4);
    check_rank(conv2d_op, weight, 4);
    steps_of(conv2d_op, 2, listed_sizes(o.stride), listed_sizes(o.padding),
             listed_sizes(o.dilation), o.groups);
    check_shapes(
        conv2d_op,
        x.size(1) == checked_product(weight.size(1), o.groups) && weight.size(0) % o.groups == 0, x,
        weight);
    const Conv2dShape s{x.size(0),      x.size(1),      x.size(2),     x.size(3),   weight.size(0),
                        weight.size(2), weight.size(3), o.stride[0],   o.stride[1], o.padding[0],
                        o.padding[1],   o.dilation[0],  o.dilation[1], o.groups};
    const bool fits = padded_size(s.h, s.pad_h) >= window_span(s.r, s.dilation_h) &&
                      padded_size(s.w, s.pad_w) >= window_span(s.s, s.dilation_w);
    check_shapes(conv2d_op, fits && s.r > 0 && s.s > 0, x, weight);
    return s;
}

void check_forward(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
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
Tensor with_same_padding(const Op& info, const Tensor& x, const Tensor& weight,
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

/// Convolves images, by codes where a recipe covers the layer. `own`: the weight before its cast, which only a recipe reads.
Tensor convolve_layer(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& own,
                      const Tensor& bias, const ConvShape& s) {
    const bool is_usual = !s.has_depth && x.numel() > 0 && weight.numel() > 0;
    if (products_are_quantized() && is_usual)
        if (auto layer = quantized_convolution_layer())
            return quantized_convolution(info, std::move(layer), x, weight, own, bias, s);
    return convolve(info, x, weight, bias, s);
}

/// Batched and cast; padding by numbers.
Tensor forward(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& own,
               const Tensor& bias, const Steps& by, std::int64_t groups) {
    check_forward(info, x, weight, bias, by, groups);
    const int dims = x.rank() - 2;
    const ConvShape s = conv_shape(x.size(0), x.size(1), space_of(x), weight, by, groups);
    const Tensor source = products_are_quantized() ? conv_raised(own, dims) : Tensor();
    return conv_lowered(convolve_layer(info, conv_raised(x, dims), conv_raised(weight, dims),
                                       source, bias, s),
                        dims);
}

/// The general entry under the name of `op`.
Tensor convolve_batch(const Op& op, const Tensor& x0, const Tensor& weight0, const Tensor& bias0,
                      const ConvTransposeOptions& o, bool transposed) {
    return op.call(
        x0, weight0, bias0, o, transposed,
        [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
            one_type(op, {x, weight, bias});
            const int dims = x.rank() - 2;
            if (dims < 1 || dims > 3) {
                throw Error(ErrorCode::shape,
                            std::string(op.name) +
                                ": takes a batch of sequences, images or volumes, not a shape of " +
                                to_string(x.shape()));
            }
            if (transposed) return transposed_convolution(op, x, weight, bias, o);
            const Steps by = steps_of(op, dims, o.stride, o.padding, o.dilation, o.groups);
            return forward(op, x, weight, weight0, bias, by, o.groups);
        });
}

/// For `dims` dimensions of space.
Tensor convolve_space(const Op& op, int dims, const Tensor& x0, const Tensor& weight0,
                      const Tensor& bias0, const ConvolutionOptions& o) {
    return op.call(
        x0, weight0, bias0, o, [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
            one_type(op, {x, weight, bias});
            Tensor batch = with_batch(op, x, dims);
            Steps by = steps_of(op, dims, o.stride, o.padding, o.dilation, o.groups);
            if (o.same) {
                check_rank(op, weight, dims + 2);
                if (std::count(by.stride.begin(), by.stride.end(), 1) != dims) {
                    throw Error(
                        ErrorCode::value,
                        std::string(op.name) + ": padding \"same\" goes with a stride of 1 only");
                }
                batch = with_same_padding(op, batch, weight, bias, by, o.groups);
            }
            return without_batch(forward(op, batch, weight, weight0, bias, by, o.groups), x,
                                 dims);
        });
}

}  // namespace

Tensor conv2d(const Tensor& x0, const Tensor& weight0, const Tensor& bias0,
              const Conv2dOptions& options) {
    if (options.same) {
        return convolve_space(conv2d_op, 2, x0, weight0, bias0,
                              {.stride = listed_sizes(options.stride),
                               .dilation = listed_sizes(options.dilation),
                               .groups = options.groups,
                               .same = true});
    }
    return conv2d_op.call(x0, weight0, bias0, options,
                          [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
                              one_type(conv2d_op, {x, weight, bias});
                              const Tensor batch = x.rank() == 3 ? with_batch(conv2d_op, x, 2) : x;
                              const Conv2dShape s = plane_of(batch, weight, options);
                              check_conv_bias(conv2d_op, bias, weight, s.k);
                              return without_batch(
                                  convolve_layer(conv2d_op, batch, weight, weight0, bias, {s}), x, 2);
                          });
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    return convolve_space(conv1d_op, 1, x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvolutionOptions& options) {
    return convolve_space(conv3d_op, 3, x, weight, bias, options);
}

Tensor conv_tbc(const Tensor& x0, const Tensor& weight0, const Tensor& bias0, std::int64_t pad) {
    return conv_tbc_op.call(
        x0, weight0, bias0, pad, [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
            one_type(conv_tbc_op, {x, weight, bias});
            check_rank(conv_tbc_op, x, 3);
            check_rank(conv_tbc_op, weight, 3);
            const Steps by = steps_of(conv_tbc_op, 3, {1}, {pad, 0, 0}, {1}, 1);
            const std::int64_t time = x.size(0), batch = x.size(1), channels = x.size(2);
            const bool fits = time > 0 && weight.size(0) > 0 && time + 2 * pad >= weight.size(0);
            check_shapes(conv_tbc_op, fits && channels == weight.size(1), x, weight);
            check_conv_bias(conv_tbc_op, bias, weight, weight.size(2));
            // Time is depth, the batch a row of pixels: so padding has no part in any sum, as in
            // PyTorch's.
            const Tensor volume = reshape(permute(x, {2, 0, 1}), {1, channels, time, 1, batch});
            const Tensor kernel = reshape(permute(weight, {2, 1, 0}),
                                          {weight.size(2), channels, weight.size(0), 1, 1});
            const ConvShape s = conv_shape(1, channels, space_of(volume), kernel, by, 1);
            const Tensor y = convolve(conv_tbc_op, volume, kernel, bias, s);
            return permute(reshape(y, {y.size(1), y.size(2), y.size(4)}), {1, 2, 0});
        });
}

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvTransposeOptions& options, bool transposed) {
    return convolve_batch(convolution_op, x, weight, bias, options, transposed);
}
Tensor cudnn_convolution(const Tensor& x, const Tensor& weight,
                         const ConvTransposeOptions& options) {
    return convolve_batch(cudnn_convolution_op, x, weight, {}, options, false);
}
Tensor cudnn_convolution_transpose(const Tensor& x, const Tensor& weight,
                                   const ConvTransposeOptions& options) {
    return convolve_batch(cudnn_convolution_transpose_op, x, weight, {}, options, true);
}

}  // namespace engine
