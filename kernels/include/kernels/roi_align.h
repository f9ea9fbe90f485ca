#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// One level of a feature pyramid: (images, height, width, channels) in memory.
struct RoiMap {
    void* data;
    std::int64_t height, width;  ///< at least 1
    double scale;                ///< pixels of the map over those of the RoIs
};

constexpr std::size_t max_roi_maps = 16;

struct RoiAlignShape {
    std::int64_t images, channels, rois;
    std::int64_t out_h, out_w;
    std::int64_t sampling_ratio;  ///< samples of a bin along an axis; <= 0: ceil(side / bins)
    bool aligned;                 ///< pixels' centres at whole numbers
    /// Side of a RoI that belongs to the third map; others by floor(log2), at the ends of the list.
    /// 0: there is one map.
    double canonical_size = 0;
    bool contiguous =
        false;  ///< y is (rois, channels, out_h, out_w), else (rois, out_h, out_w, channels)
};

/// y = means of bilinear samples of each RoI's bins (He et al. 2017, as torchvision computes them).
/// rois (rois, 5): picture, x1, y1, x2, y2, f32 (f64 for maps of f64). A RoI of no picture or with
/// a NaN gives 0. y and the maps are of one floating dtype; f32 (f64) inside, rounded once. There
/// are 1 to max_roi_maps maps.
using RoiAlign = void(Array y, std::span<const RoiMap> maps, ConstArray rois,
                      const RoiAlignShape& shape, Stream stream);
HALFTONE_KERNEL(RoiAlign, roi_align);

/// The gradient of the maps, written whole; dy (rois, out_h, out_w, channels). Each pixel adds up
/// its terms in the order of the RoIs and rounds once: the same bits in every run, for any number
/// of threads and any order of blocks.
using RoiAlignBackward = void(std::span<const RoiMap> maps, ConstArray dy, ConstArray rois,
                              const RoiAlignShape& shape, Stream stream);
HALFTONE_KERNEL(RoiAlignBackward, roi_align_backward);

}  // namespace kernels
