#pragma once

#include "ops/detection/box_parts.h"

namespace engine {

struct ProposalOptions {
    std::int64_t before = 1000;  ///< of a level of a picture, before suppression
    std::int64_t after = 1000;   ///< of a picture
    double nms_threshold = 0.7;
    double min_size = 1e-3;  ///< of a side, in pixels

    void read(auto& from) {
        from("before", before)("after", after)("nms_threshold", nms_threshold);
        from("min_size", min_size);
    }
};

/// The proposals of a region proposal network: for each level logits (N, R, h, w) and deltas (N, 4
/// R, h, w) of R anchors a place, anchors (A, 4) of all levels as anchors() orders them, sizes (N,
/// 2 or more) i64 with each picture's height and width within the canvas. Results: proposals (N,
/// after, 4) f32, zeros behind the last; counts (N) i64.
///
/// The anchors with the largest logits of each level are decoded, clipped to the picture and dropped
/// where a side is below min_size or the score is not a number; suppressed within their level;
/// and cut by score. In the choice of the largest a NaN counts as -inf. Ties go to the lower anchor,
/// then to the lower (level, rank). No gradient.
TensorList select_proposals(const TensorList& logits, const TensorList& deltas,
                            const Tensor& anchors, const Tensor& sizes,
                            const ProposalOptions& options = {});
inline constexpr Op select_proposals_op(
    CastPolicy::f32,
    "select_proposals(logits[], deltas[], anchors, sizes; before=1000, after=1000, "
    "nms_threshold=0.7, min_size=0.001)",
    boxes_are_pixels, by_name<select_proposals>, no_gradient);

struct DetectionOptions {
    double score_threshold = 0.05;
    double nms_threshold = 0.5;
    std::int64_t detections = 100;  ///< of a picture
    double min_size = 1e-2;         ///< of a side, in pixels

    void read(auto& from) {
        from("score_threshold", score_threshold)("nms_threshold", nms_threshold);
        from("detections", detections)("min_size", min_size);
    }
};

/// The detections of a box head: logits (R, C + 1), where class 0 is background, deltas (R, 4 (C +
/// 1)) with weights 10, 10, 5, 5, rois (R, 5), sizes (N, 2 or more) i64 as above. Results:
/// detections (N, detections, 6) f32: x1, y1, x2, y2, score, class, zeros behind the last; counts
/// (N) i64. A RoI of a picture outside of N is an empty slot. Scores are softmax in f32; those not
/// above the threshold are dropped, as are boxes with a side below min_size after clipping; the
/// rest is suppressed within its class and cut by score, ties by (RoI, class). No gradient.
TensorList select_detections(const Tensor& logits, const Tensor& deltas, const Tensor& rois,
                             const Tensor& sizes, const DetectionOptions& options = {});
inline constexpr Op select_detections_op(
    CastPolicy::f32,
    "select_detections(logits, deltas, rois, sizes; score_threshold=0.05, nms_threshold=0.5, "
    "detections=100, min_size=0.01)",
    boxes_are_pixels, by_name<select_detections>, no_gradient);

}  // namespace engine
