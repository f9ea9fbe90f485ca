#include "ops/conv/conv_parts.h"

#include <algorithm>

#include "ops/conv/conv_depth.h"
#include "ops/conv/convolution.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using kernels::Conv2dShape;

constexpr const char* part_why =
    "Its inputs have the convolution's types; sums in fp32, one rounding.";
constexpr Op input_gradient_op("conv2d_input_gradient(dy, weight; shape)", part_why);
constexpr Op weight_gradient_op("conv2d_weight_gradient(dy, x; shape)", part_why);

Shape output_shape(const Conv2dShape& s) { return {s.n, s.k, s.oh(), s.ow()}; }
Shape input_shape(const Conv2dShape& s) { return {s.n, s.c, s.h, s.w}; }
Shape weight_shape(const ConvShape& s) {
    const Conv2dShape& p = s.plane;
    if (s.has_depth) return {p.k, p.c / p.groups, s.taps, p.r, p.s};
    return {p.k, p.c / p.groups, p.r, p.s};
}

Tensor nhwc(const Tensor& x) { return in_layout(x, Layout::channels_last); }
/// The images that a convolution reads, as the kernels take them for `with_pitch_of(images, s)`.
Tensor pixels_of(const Tensor& x) { return pixel_pitch(x) > 0 ? x : nhwc(x); }
Conv2dShape with_pitch_of(const Tensor& images, Conv2dShape s) {
    s.x_pitch = pixel_pitch(images);
    return s;
}

/// Whether the kernels take the weight as it is, channels last: on a GPU, whose library takes no
/// other order. Elsewhere, and for other strides, they take a copy in row-major order.
bool is_taken_channels_last(const Tensor& weight) {
    return weight.device().kind == Device::Kind::cuda && layout_of(weight) == Layout::channels_last;
}
/// The weight as the kernels take it for `with_order_of(weight, s)`.
Tensor dense_weight(const Tensor& w) {
    return is_taken_channels_last(w) ? w : in_layout(w, Layout::contiguous);
}
Conv2dShape with_order_of(const Tensor& weight, Conv2dShape s) {
    s.channels_last_weights = is_taken_channels_last(weight);
    return s;
}
ConvShape with_order_of(const Tensor& weight, ConvShape s) {
    s.plane = with_order_of(weight, s.plane);
    return s;
}

/// The kernels copy an image with its padding, or one that a window overlaps on each side. Throws
/// Error(shape) if the size of that copy could overflow.
void check_padded_images(const Conv2dShape& s) {
    check_shape({std::max(s.c, s.k), s.h + 2 * s.pad_h, s.w + 2 * s.pad_w});
}

/// The result of a convolution where no product contributes: zeros, or the bias of each channel.
Tensor bias_alone(const Shape& shape, const Tensor& x, const Tensor& bias, Layout layout) {
    const Tensor y = Tensor::empty(shape, x.dtype(), x.device(), layout);
    const Tensor b =
        bias.defined() ? dense(bias) : Tensor::zeros({shape[1]}, x.dtype(), x.device());
    Shape by_channel{shape[1]};
    while (by_channel.rank() + 1 < shape.rank()) by_channel.push_back(1);
    Strides strides = by_channel;
    std::fill_n(&strides[0], strides.rank(), 1);
    copy_into(y, expanded_view(view_of(b, by_channel, strides, b.impl()->offset), shape));
    return y;
}

// The kernels' work on images, outside the tape.

Tensor convolve_images(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const Conv2dShape& s) {
    if (weight.numel() == 0) return bias_alone(output_shape(s), x, bias, Layout::channels_last);
    Tensor y = Tensor::empty(output_shape(s), x.dtype(), x.device(), Layout::channels_last);
    if (y.numel() == 0) return y;
    const Tensor from = pixels_of(x), w = dense_weight(weight),
                 b = bias.defined() ? dense(bias) : bias;
    const kernels::ConstArray none{nullptr, x.dtype(), 0};
    on(x.device(), kernels::cpu::conv2d_forward, kernels::cuda::conv2d_forward)(
        y.array(), from.array(), w.array(), b.defined() ? b.array() : none,
        with_pitch_of(from, with_order_of(weight, s)), current_stream());
    return y;
}

Tensor input_gradient_of_images(const Tensor& dy, const Tensor& weight, const Conv2dShape& s) {
    if (weight.numel() == 0) return bias_alone(input_shape(s), dy, {}, Layout::channels_last);
    Tensor dx = Tensor::empty(input_shape(s), dy.dtype(), dy.device(), Layout::channels_last);
    if (dx.numel() == 0) return dx;
    const Tensor from = nhwc(dy), w = dense_weight(weight);
    on(dy.device(), kernels::cpu::conv2d_data_gradient, kernels::cuda::conv2d_data_gradient)(
        dx.array(), from.array(), w.array(), with_order_of(weight, s), current_stream());
    return dx;
}

/// dw (w's shape, in the order of s) and, if asked, db (K) in one pass over dy.
void weight_gradient_of_images(const Tensor& dw, const Tensor& db, const Tensor& dy,
                               const Tensor& x, const Conv2dShape& s) {
    const kernels::Array bias = db.defined() ? db.array() : kernels::Array{nullptr, dy.dtype(), 0};
    const Tensor from = nhwc(dy), input = pixels_of(x);
    on(dy.device(), kernels::cpu::conv2d_weight_gradient, kernels::cuda::conv2d_weight_gradient)(
        dw.array(), bias, from.array(), input.array(), with_pitch_of(input, s), current_stream());
}

// Convolutions of volumes follow.

Tensor convolve_volume(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const ConvShape& s) {
    const Conv2dShape& p = s.plane;
    const Shape shape{p.n, p.k, s.depth_out, p.oh(), p.ow()};
    check_shape(shape);
    if (shape.numel() == 0) return Tensor::empty(shape, x.dtype(), x.device());
    const std::vector<DepthPart> parts = output_parts(s);
    const bool whole = slice_count(parts) == s.depth_out;
    const Tensor y = whole ? Tensor::empty(shape, x.dtype(), x.device())
                           : bias_alone(shape, x, bias, Layout::contiguous);
    for (const DepthPart& part : parts)
        put_slices(y,
                   convolve_images(tap_slices(x, part), weight_of_outputs(weight, part), bias,
                                   shape_of_outputs(s, part)),
                   part);
    return y;
}

Tensor input_gradient_of_volume(const Tensor& dy, const Tensor& weight, const ConvShape& s) {
    const Conv2dShape& p = s.plane;
    const Shape shape{p.n, p.c, s.depth, p.h, p.w};
    check_shape(shape);
    if (shape.numel() == 0) return Tensor::empty(shape, dy.dtype(), dy.device());
    const std::vector<DepthPart> parts = input_parts(s);
    const Tensor dx = slice_count(parts) == s.depth ? Tensor::empty(shape, dy.dtype(), dy.device())
                                                    : Tensor::zeros(shape, dy.dtype(), dy.device());
    for (const DepthPart& part : parts)
        put_slices(dx,
                   input_gradient_of_images(tap_slices(dy, part), weight_of_inputs(weight, part),
                                            shape_of_inputs(s, part)),
                   part);
    return dx;
}

void weight_gradient_of_volume(const Tensor& dw, const Tensor& dy, const Tensor& x,
                               const ConvShape& s) {
    for (std::int64_t tap = 0; tap < s.taps; ++tap) {
        const DepthPart part = part_of_tap(tap, s);
        const Tensor to = weight_of_tap(dw, tap);
        Tensor found;
        if (part.count == 0) {
            found = Tensor::zeros(to.shape(), dw.dtype(), dw.device());
        } else {
            found = Tensor::empty(to.shape(), dw.dtype(), dw.device());
            weight_gradient_of_images(found, {}, slices_of(dy, part), tap_slices(x, part),
                                      shape_of_outputs(s, part));
        }
        copy_into(to, found);
    }
}

}  // namespace

Tensor bare_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvShape& s) {
    check_padded_images(s.plane);
    return s.has_depth ? convolve_volume(x, weight, bias, s)
                       : convolve_images(x, weight, bias, s.plane);
}

Tensor bare_input_gradient(const Tensor& dy, const Tensor& weight, const ConvShape& s) {
    check_padded_images(s.plane);
    return s.has_depth ? input_gradient_of_volume(dy, weight, s)
                       : input_gradient_of_images(dy, weight, s.plane);
}

TensorList bare_weight_gradient(const Tensor& dy, const Tensor& x, const ConvShape& s,
                                   bool with_bias) {
    const Shape bias_shape{s.plane.k};
    if (s.plane.n == 0 || dy.numel() == 0) {
        TensorList zeros{Tensor::zeros(weight_shape(s), dy.dtype(), dy.device())};
        if (with_bias) zeros.push_back(Tensor::zeros(bias_shape, dy.dtype(), dy.device()));
        return zeros;
    }
    const Layout order = s.plane.channels_last_weights ? Layout::channels_last : Layout::contiguous;
    TensorList out{Tensor::empty(weight_shape(s), dy.dtype(), dy.device(), order)};
    if (with_bias) out.push_back(Tensor::empty(bias_shape, dy.dtype(), dy.device()));
    if (s.has_depth)
        weight_gradient_of_volume(out[0], dy, x, s);
    else
        weight_gradient_of_images(out[0], with_bias ? out[1] : Tensor(), dy, x, s.plane);
    return out;
}

namespace {

/// dw, in the order that s names, and, if asked (for images), db. Linear in dy and in x.
TensorList weight_gradient(const Tensor& dy, const Tensor& x, const ConvShape& s, bool with_bias) {
    const Tensor inputs[] = {dy, x};
    return record_outputs(
        weight_gradient_op, inputs, bare_weight_gradient(dy, x, s, with_bias),
        {save(dy), save(x)}, [s](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& ddw = grads[0];
            const Tensor ddb = grads.size() > 1 ? grads[1] : Tensor();
            TensorList out(2);
            if (saved.needs_gradient(0)) {
                const Tensor w = ddw.defined() ? ddw
                                               : Tensor::zeros(weight_shape(s), saved[0].dtype(),
                                                               saved[0].device());
                out[0] = convolve(conv2d_op, saved[1], w, ddb, s);
            }
            if (saved.needs_gradient(1) && ddw.defined())
                out[1] = conv_input_gradient(input_gradient_op, saved[0], ddw, s);
            return out;
        });
}

/// Sums dy over all dimensions but the channels.
Tensor bias_gradient(const Tensor& dy) {
    std::vector<std::int64_t> dims{0};
    for (int i = 2; i < dy.rank(); ++i) dims.push_back(i);
    return sum(dy, dims, false, dy.dtype());
}

}  // namespace

Tensor convolve(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const ConvShape& shape) {
    const ConvShape s = with_order_of(weight, shape);  // the gradient takes the weight's
    const Tensor inputs[] = {x, weight, bias};
    return record_many(
        info, inputs, bare_convolution(x, weight, bias, s),
        {weight.requires_grad() ? save(x) : Save{}, x.requires_grad() ? save(weight) : Save{}},
        [s](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& dy = grads[0];
            TensorList out(3);
            if (saved.needs_gradient(0))
                out[0] = conv_input_gradient(input_gradient_op, dy, saved[1], s);
            if (saved.needs_gradient(1)) {
                const TensorList found =
                    weight_gradient(dy, saved[0], s, saved.needs_gradient(2) && !s.has_depth);
                out[1] = found[0];
                if (found.size() > 1) out[2] = found[1];
            }
            if (saved.needs_gradient(2) && !out[2].defined()) out[2] = bias_gradient(dy);
            return out;
        });
}

Tensor conv_input_gradient(const Op& info, const Tensor& dy, const Tensor& weight,
                           const ConvShape& s) {
    return conv_input_gradient(info, dy, weight, s, dy.dtype());
}

Tensor conv_input_gradient(const Op& info, const Tensor& dy, const Tensor& weight,
                           const ConvShape& shape, DType type) {
    const ConvShape s = with_order_of(weight, shape);
    const Tensor inputs[] = {dy, weight};
    return record_many(
        info, inputs, bare_input_gradient(to(dy.detach(), type), to(weight.detach(), type), s),
        {weight.requires_grad() ? save(dy) : Save{}, dy.requires_grad() ? save(weight) : Save{}},
        [s, type, narrow = dy.dtype()](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& g = grads[0];
            TensorList out(2);
            if (saved.needs_gradient(0))
                out[0] = to(convolve(conv2d_op, g, to(saved[1], type), {}, s), narrow);
            if (saved.needs_gradient(1))
                out[1] = to(weight_gradient(to(saved[0], type), g, s, false)[0], narrow);
            return out;
        });
}

}  // namespace engine
