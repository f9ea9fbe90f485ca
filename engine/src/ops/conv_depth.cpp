#include "ops/conv_depth.h"

#include <algorithm>

#include "ops/layout.h"

namespace engine {
namespace {

Tensor zero_images(const Shape& shape, const Tensor& like) {
    const Tensor memory = Tensor::zeros({shape.numel()}, like.dtype(), like.device());
    return view_of(memory, shape, channels_last_strides(shape), 0);
}

/// Output slices [first, first + count) are those that tap t of the kernel finds an input slice
/// for: `input` for the first, stride_d further for each next.
struct Span {
    std::int64_t first, count, input;
};

Span span_of(std::int64_t tap, const ConvShape& s) {
    const std::int64_t shift = tap * s.dilation_d - s.pad_d;  // input = out stride_d + shift
    const std::int64_t first = shift < 0 ? (-shift + s.stride_d - 1) / s.stride_d : 0;
    const std::int64_t room = s.depth - 1 - shift;
    const std::int64_t last = room < 0 ? -1 : std::min(room / s.stride_d, s.depth_out - 1);
    return {first, std::max<std::int64_t>(last - first + 1, 0), first * s.stride_d + shift};
}

/// Images (N depth, C taps, H, W) in NHWC memory seen as slices of channels of one tap: (N, count,
/// C, H, W), from slice `first` on, `step` apart.
Tensor tap_view(const Tensor& images, std::int64_t n, std::int64_t taps, std::int64_t tap,
                std::int64_t first, std::int64_t step, std::int64_t count) {
    const std::int64_t channels = images.size(1), h = images.size(2), w = images.size(3),
                       image = channels * h * w, depth = n == 0 ? 0 : images.size(0) / n;
    return view_of(images, {n, count, channels / taps, h, w},
                   {depth * image, step * image, taps, w * channels, channels},
                   images.impl()->offset + first * image + tap);
}

/// A volume (N, C, D, H, W) seen as (N, count, C, H, W) in the same way.
Tensor depth_view(const Tensor& x, std::int64_t first, std::int64_t step, std::int64_t count) {
    const Strides& by = x.strides();
    return view_of(x, {x.size(0), count, x.size(1), x.size(3), x.size(4)},
                   {by[0], step * by[2], by[1], by[3], by[4]}, x.impl()->offset + first * by[2]);
}

}  // namespace

Tensor gather_depth(const Tensor& x, const ConvShape& s) {
    const auto& p = s.plane;
    const Tensor images = zero_images({p.n * s.depth_out, p.c * s.taps, p.h, p.w}, x);
    for (std::int64_t tap = 0; tap < s.taps; ++tap) {
        const Span span = span_of(tap, s);
        if (span.count > 0)
            copy_into(tap_view(images, p.n, s.taps, tap, span.first, 1, span.count),
                      depth_view(x, span.input, s.stride_d, span.count));
    }
    return images;
}

Tensor spread_depth(const Tensor& dy, const ConvShape& s) {
    const auto& p = s.plane;
    const Tensor images = zero_images({p.n * s.depth, p.k * s.taps, p.oh(), p.ow()}, dy);
    for (std::int64_t tap = 0; tap < s.taps; ++tap) {
        const Span span = span_of(tap, s);
        if (span.count > 0)
            copy_into(tap_view(images, p.n, s.taps, tap, span.input, s.stride_d, span.count),
                      depth_view(dy, span.first, 1, span.count));
    }
    return images;
}

Tensor slices_of(const Tensor& volume) {
    const std::int64_t n = volume.size(0), depth = volume.size(2);
    const Tensor images = Tensor::empty({n * depth, volume.size(1), volume.size(3), volume.size(4)},
                                        volume.dtype(), volume.device(), Layout::channels_last);
    copy_into(tap_view(images, n, 1, 0, 0, 1, depth), depth_view(volume, 0, 1, depth));
    return images;
}

Tensor volume_of(const Tensor& slices, std::int64_t depth) {
    const std::int64_t n = slices.size(0) / depth;
    const Tensor volume = Tensor::empty({n, slices.size(1), depth, slices.size(2), slices.size(3)},
                                        slices.dtype(), slices.device());
    copy_into(depth_view(volume, 0, 1, depth), tap_view(slices, n, 1, 0, 0, 1, depth));
    return volume;
}

kernels::Conv2dShape gathered_shape(const ConvShape& s) {
    kernels::Conv2dShape p = s.plane;
    p.n *= s.depth_out;
    p.c *= s.taps;
    return p;
}

kernels::Conv2dShape spread_shape(const ConvShape& s) {
    kernels::Conv2dShape p = s.plane;
    p.n *= s.depth;
    p.k *= s.taps;
    return p;
}

Tensor gathered_weight(const Tensor& weight) {
    const Tensor w = in_layout(weight, Layout::contiguous);
    const Shape shape{w.size(0), w.size(1) * w.size(2), w.size(3), w.size(4)};
    return view_of(w, shape, contiguous_strides(shape), w.impl()->offset);
}

Tensor spread_weight(const Tensor& weight) {
    const Strides& by = weight.strides();
    const Tensor turned = view_of(
        weight, {weight.size(0), weight.size(2), weight.size(1), weight.size(3), weight.size(4)},
        {by[0], by[2], by[1], by[3], by[4]}, weight.impl()->offset);
    const Tensor w = in_layout(turned, Layout::contiguous);
    const Shape shape{w.size(0) * w.size(1), w.size(2), w.size(3), w.size(4)};
    return view_of(w, shape, contiguous_strides(shape), w.impl()->offset);
}

}  // namespace engine
