#include "ops/conv/conv_depth.h"

#include <algorithm>

#include "tensor/layout.h"

namespace engine {
namespace {

void add_slice(std::vector<DepthPart>& parts, const DepthPart& slice) {
    if (slice.taps.empty()) return;
    DepthPart* last = parts.empty() ? nullptr : &parts.back();
    if (last && last->taps == slice.taps && last->first + last->count * last->step == slice.first)
        ++last->count;
    else
        parts.push_back(slice);
}

/// View of images (N count, C taps, H, W) in NHWC memory as slices that hold the channels of one
/// tap: (N, count, C, H, W).
Tensor tap_view(const Tensor& images, std::int64_t count, std::int64_t taps, std::int64_t tap) {
    const std::int64_t channels = images.size(1), h = images.size(2), w = images.size(3),
                       image = channels * h * w;
    return view_of(images, {images.size(0) / count, count, channels / taps, h, w},
                   {count * image, image, taps, w * channels, channels},
                   images.impl()->offset + tap);
}

/// View of a volume (N, C, D, H, W) in the same form: `count` slices from `first` on, `step` apart.
Tensor depth_view(const Tensor& x, std::int64_t first, std::int64_t step, std::int64_t count) {
    const Strides& by = x.strides();
    return view_of(x, {x.size(0), count, x.size(1), x.size(3), x.size(4)},
                   {by[0], step * by[2], by[1], by[3], by[4]}, x.impl()->offset + first * by[2]);
}

Tensor empty_images(const Tensor& volume, std::int64_t count, std::int64_t taps) {
    return Tensor::empty(
        {volume.size(0) * count, volume.size(1) * taps, volume.size(3), volume.size(4)},
        volume.dtype(), volume.device(), Layout::channels_last);
}

Tensor reshaped(const Tensor& view, const Shape& shape) {
    const Tensor w = in_layout(view, Layout::contiguous);
    return view_of(w, shape, contiguous_strides(shape), w.impl()->offset);
}

/// The taps of a weight that belong to the part: (K, C / groups, taps, R, S).
Tensor weight_of_part(const Tensor& weight, const DepthPart& part) {
    const std::int64_t step = part.tap_count() > 1 ? part.taps[1] - part.taps[0] : 1;
    Strides by = weight.strides();
    Shape shape = weight.shape();
    const std::int64_t offset = weight.impl()->offset + part.taps[0] * by[2];
    by[2] *= step;
    shape[2] = part.tap_count();
    return view_of(weight, shape, by, offset);
}

}  // namespace

std::vector<DepthPart> output_parts(const ConvShape& s) {
    std::vector<DepthPart> parts;
    for (std::int64_t slice = 0; slice < s.depth_out; ++slice) {
        DepthPart here{slice, 1, 1, s.stride_d, {}, {}};
        for (std::int64_t tap = 0; tap < s.taps; ++tap) {
            const std::int64_t input = slice * s.stride_d + tap * s.dilation_d - s.pad_d;
            if (input < 0 || input >= s.depth) continue;
            here.taps.push_back(tap);
            here.others.push_back(input);
        }
        add_slice(parts, here);
    }
    return parts;
}

std::vector<DepthPart> input_parts(const ConvShape& s) {
    std::vector<DepthPart> parts;
    for (std::int64_t first = 0; first < std::min(s.stride_d, s.depth); ++first)
        for (std::int64_t slice = first; slice < s.depth; slice += s.stride_d) {
            DepthPart here{slice, 1, s.stride_d, 1, {}, {}};
            for (std::int64_t tap = 0; tap < s.taps; ++tap) {
                const std::int64_t start = slice + s.pad_d - tap * s.dilation_d;
                if (start < 0 || start % s.stride_d != 0) continue;
                if (start / s.stride_d >= s.depth_out) continue;
                here.taps.push_back(tap);
                here.others.push_back(start / s.stride_d);
            }
            add_slice(parts, here);
        }
    return parts;
}

DepthPart part_of_tap(std::int64_t tap, const ConvShape& s) {
    const std::int64_t shift = tap * s.dilation_d - s.pad_d;  // input = output stride_d + shift
    const std::int64_t first = shift < 0 ? (-shift + s.stride_d - 1) / s.stride_d : 0;
    const std::int64_t room = s.depth - 1 - shift;
    const std::int64_t last = room < 0 ? -1 : std::min(room / s.stride_d, s.depth_out - 1);
    return {first, std::max<std::int64_t>(last - first + 1, 0),
            1,     s.stride_d,
            {tap}, {first * s.stride_d + shift}};
}

std::int64_t slice_count(const std::vector<DepthPart>& parts) {
    std::int64_t count = 0;
    for (const DepthPart& part : parts) count += part.count;
    return count;
}

Tensor slices_of(const Tensor& volume, const DepthPart& part) {
    const Tensor images = empty_images(volume, part.count, 1);
    copy_into(tap_view(images, part.count, 1, 0),
              depth_view(volume, part.first, part.step, part.count));
    return images;
}

void put_slices(const Tensor& volume, const Tensor& images, const DepthPart& part) {
    copy_into(depth_view(volume, part.first, part.step, part.count),
              tap_view(images, part.count, 1, 0));
}

Tensor tap_slices(const Tensor& other, const DepthPart& part) {
    const std::int64_t taps = part.tap_count();
    const Tensor images = empty_images(other, part.count, taps);
    for (std::int64_t i = 0; i < taps; ++i) {
        const std::int64_t first = part.others[static_cast<std::size_t>(i)];
        copy_into(tap_view(images, part.count, taps, i),
                  depth_view(other, first, part.other_step, part.count));
    }
    return images;
}

kernels::Conv2dShape shape_of_outputs(const ConvShape& s, const DepthPart& part) {
    kernels::Conv2dShape p = s.plane;
    p.n *= part.count;
    p.c *= part.tap_count();
    return p;
}

kernels::Conv2dShape shape_of_inputs(const ConvShape& s, const DepthPart& part) {
    kernels::Conv2dShape p = s.plane;
    p.n *= part.count;
    p.k *= part.tap_count();
    return p;
}

Tensor weight_of_outputs(const Tensor& weight, const DepthPart& part) {
    const Tensor w = weight_of_part(weight, part);
    return reshaped(w, {w.size(0), w.size(1) * w.size(2), w.size(3), w.size(4)});
}

Tensor weight_of_inputs(const Tensor& weight, const DepthPart& part) {
    const Tensor w = weight_of_part(weight, part);
    const Strides& by = w.strides();
    const Tensor turned = view_of(w, {w.size(0), w.size(2), w.size(1), w.size(3), w.size(4)},
                                  {by[0], by[2], by[1], by[3], by[4]}, w.impl()->offset);
    return reshaped(turned, {w.size(0) * w.size(2), w.size(1), w.size(3), w.size(4)});
}

Tensor weight_of_tap(const Tensor& weight, std::int64_t tap) {
    const Strides& by = weight.strides();
    return view_of(weight, {weight.size(0), weight.size(1), weight.size(3), weight.size(4)},
                   {by[0], by[1], by[3], by[4]}, weight.impl()->offset + tap * by[2]);
}

}  // namespace engine
