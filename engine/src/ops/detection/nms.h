#pragma once

#include "ops/detection/box_parts.h"

namespace engine {

// Non-maximum suppression: boxes (N, 4) in the order of falling scores (N); one whose IoU with an
// earlier kept one is above iou_threshold goes. The result names the kept boxes in that order, i64;
// equal scores keep the order of their places, a NaN score comes first, and an IoU that is NaN
// suppresses nothing. No gradient. The size of the result depends on the values, so a GPU is waited
// for, and a captured step cannot call it. Error(value) for a threshold outside of [0, 1].

Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold);
inline constexpr Op nms_op(CastPolicy::f32, "nms(boxes, scores; iou_threshold)", boxes_are_pixels,
                           by_name<nms>, no_gradient);

/// Boxes suppress only those of their own group: idxs (N), i64.
Tensor batched_nms(const Tensor& boxes, const Tensor& scores, const Tensor& idxs,
                   double iou_threshold);
inline constexpr Op batched_nms_op(CastPolicy::f32,
                                   "batched_nms(boxes, scores, idxs; iou_threshold)",
                                   boxes_are_pixels, by_name<batched_nms>, no_gradient);

}  // namespace engine
