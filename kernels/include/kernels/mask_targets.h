#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// Bitmaps of instances, a bit a pixel, cropped to each. places (images, instances, 5): left, top,
/// width, height, first word; bits (images, words): rows one after the other, each of ceil(width /
/// 64) words, the leftmost pixel in the lowest bit. sizes (images, 2): height and width of the
/// pictures in pixels.
struct MaskBits {
    const std::int64_t* places;
    const std::uint64_t* bits;
    const std::int64_t* sizes;
    std::int64_t images, instances, words;
};

/// y (rois, side_h, side_w) f32: roi_align() of the instance's bitmap, drawn at its picture's size,
/// with scale 1, an adaptive sampling ratio and not aligned. rois (rois, 5): picture,
/// x1, y1, x2, y2; instances (rois): the number within the picture. A picture, an instance or a
/// word that does not exist is read as zeros.
using MaskTargets = void(float* y, const float* rois, const std::int64_t* instances,
                         std::int64_t count, std::int64_t side_h, std::int64_t side_w,
                         const MaskBits& masks, Stream stream);
HALFTONE_KERNEL(MaskTargets, mask_targets);

}  // namespace kernels
