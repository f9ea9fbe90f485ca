#pragma once

#include "ops/detection/box_parts.h"

namespace engine {

/// Intersection over union of boxes a (A, 4) and b (B, 4): (A, B), f32 (f64 for f64). inter / (area
/// a + area b - inter); two boxes without area give NaN. No gradient.
Tensor box_iou(const Tensor& a, const Tensor& b);
inline constexpr Op box_iou_op(CastPolicy::f32, "box_iou(a, b)", boxes_are_pixels, by_name<box_iou>,
                               no_gradient);

/// Where boxes (N, 4) lie beside their anchors (N, 4): (N, 4), f32 (f64 for f64). Columns are wx
/// (gx - ax) / aw, wy (gy - ay) / ah, ww log(gw / aw), wh log(gh / ah) with centres x1 + w / 2 and
/// `weights` (wx, wy, ww, wh). No gradient. Source: Girshick et al. 2014, as torchvision writes it.
Tensor box_encode(const Tensor& boxes, const Tensor& anchors, const std::vector<double>& weights);
inline constexpr Op box_encode_op(CastPolicy::f32,
                                  "box_encode(boxes, anchors; weights=[1, 1, 1, 1])",
                                  boxes_are_pixels, by_name<box_encode>, no_gradient);

/// The inverse: deltas (N, 4 C), four for each of C classes, and anchors (N, 4) give boxes
/// (N, 4 C). Logarithms are cut at kernels::max_log_side, so that exp() stays in range. No gradient.
Tensor box_decode(const Tensor& deltas, const Tensor& anchors, const std::vector<double>& weights);
inline constexpr Op box_decode_op(CastPolicy::f32,
                                  "box_decode(deltas, anchors; weights=[1, 1, 1, 1])",
                                  boxes_are_pixels, by_name<box_decode>, no_gradient);

}  // namespace engine
