#pragma once

#include <array>

#include "ops/detection/box_parts.h"

namespace engine {

inline constexpr const char* samples_in_f32 =
    "Not on the list: weighs pixels in fp32 and rounds to its input's type, with RoIs in fp32.";

/// Means of bilinear samples of regions: x (N, C, H, W) and rois (K, 5), each a picture's number
/// and x1, y1, x2, y2, give (K, C, output_size), channels last, of x's type. RoIs are read in f32
/// (f64 beside f64) and have no gradient. Coordinates times `spatial_scale` are pixels of x, less
/// 0.5 with `aligned`; without it a side is at least 1. A bin has sampling_ratio² samples, by 0 or
/// less ceil(side / bins) for each axis. A sample beyond -1 or the size counts as 0; so does a
/// NaN. A RoI of picture -1 is an empty slot and gives 0; other numbers are Error(value). Sums run
/// in f32 (f64); gradients are added up in the order of the RoIs, the same bits for any number of
/// threads. Source: He et al. 2017, as torchvision computes it.
Tensor roi_align(const Tensor& x, const Tensor& rois,
                 const std::array<std::int64_t, 2>& output_size, double spatial_scale = 1,
                 std::int64_t sampling_ratio = -1, bool aligned = false);
inline constexpr Op roi_align_op(
    CastPolicy::none,
    "roi_align(x, rois; output_size, spatial_scale=1, sampling_ratio=-1, aligned=False)",
    samples_in_f32, by_name<roi_align>, not_forced);

/// roi_align() over a pyramid: maps (N, C, h, w) with scales 1/4, 1/8, ... of the RoIs' pixels. A
/// RoI reads level floor(4 + log2(sqrt(area) / canonical_size) + 1e-6), where the first map is level
/// 2, limited to the levels that exist (Lin et al. 2017). `contiguous`: the result lies in memory
/// as (K, C, y, x), for a product that reads rows; else channels last.
Tensor multi_scale_roi_align(const TensorList& maps, const Tensor& rois,
                             const std::array<std::int64_t, 2>& output_size,
                             double canonical_size = 224, std::int64_t sampling_ratio = 2,
                             bool contiguous = false);
inline constexpr Op multi_scale_roi_align_op(
    CastPolicy::none,
    "multi_scale_roi_align(maps[], rois; output_size, canonical_size=224, sampling_ratio=2, "
    "contiguous=False)",
    samples_in_f32, by_name<multi_scale_roi_align>, not_forced);

}  // namespace engine
