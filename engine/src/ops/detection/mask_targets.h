#pragma once

#include <array>

#include "ops/detection/box_parts.h"

namespace engine {

/// The targets of a mask head: bitmaps of instances, sampled in RoIs: (K, output_size) f32 in
/// [0, 1]. It is roi_align() of an instance's bitmap at its picture's size, with scale 1, an
/// adaptive sampling ratio and not aligned, read from bits.
///
/// rois (K, 5): picture, x1, y1, x2, y2. instances (K) i64: the number within the picture. places
/// (N, G, 5) i64: left, top, width, height and first word of each instance's crop. bits (N, W) i64:
/// rows of ceil(width / 64) words, a bit a pixel, the leftmost in the lowest bit. sizes (N, 2 or
/// more) i64: height and width of the pictures. A picture, instance or word that does not exist
/// gives zeros. No gradient.
Tensor mask_targets(const Tensor& rois, const Tensor& instances, const Tensor& places,
                    const Tensor& bits, const Tensor& sizes,
                    const std::array<std::int64_t, 2>& output_size);
inline constexpr Op mask_targets_op(
    CastPolicy::f32, "mask_targets(rois, instances, places, bits, sizes; output_size=[28, 28])",
    boxes_are_pixels, by_name<mask_targets>, no_gradient);

}  // namespace engine
