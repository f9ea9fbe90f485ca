#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// log(1000 / 16): logarithms of decoded sides are cut there, so that exp() stays in range.
inline constexpr double max_log_side = 4.135166556742356;

/// One level of a region proposal network: logits (images, anchors), deltas (images, anchors, 4).
struct ProposalLevel {
    const float* logits;
    const float* deltas;
    std::int64_t anchors;
};
constexpr std::size_t max_proposal_levels = 16;
struct ProposalRules {
    std::int64_t images;
    std::int64_t before;  ///< taken of a level of a picture, before suppression
    std::int64_t after;   ///< kept of a picture
    double nms_threshold;
    float min_side;
};

/// Proposals of each picture. anchors: of all levels, one after the other, (.., 4);
/// sizes (images, 2): height and width of the pictures in their canvas. Of each level the anchors
/// with the largest logits (NaN as -inf, ties by the lowest number) are decoded, clipped to the
/// picture and dropped where a side is below min_side or the score, sigmoid in f32, is NaN; then
/// suppressed within their level and cut by score, ties by (level, rank). proposals (images, after,
/// 4) with zeros behind the last; counts (images).
using SelectProposals = void(float* proposals, std::int64_t* counts,
                             std::span<const ProposalLevel> levels, const float* anchors,
                             const std::int64_t* sizes, const ProposalRules& rules, Stream stream);
HALFTONE_KERNEL(SelectProposals, select_proposals);

struct DetectionRules {
    std::int64_t images, rois, classes;  ///< classes with background, which is 0
    std::int64_t detections;             ///< kept of a picture
    float score_threshold, min_side;
    double nms_threshold;
};

/// Detections of each picture. scores (rois, classes) sum to 1; deltas (rois, classes,
/// 4) with weights 10, 10, 5, 5; rois (rois, 5): picture (another number: left out), x1, y1, x2,
/// y2. Boxes are decoded for each class but background, clipped, dropped where the score is not
/// above the threshold or a side is below min_side, suppressed within their class and cut by score,
/// ties by (RoI, class). detections (images, detections, 6): x1, y1, x2, y2, score, class, zeros
/// behind the last; counts (images).
using SelectDetections = void(float* detections, std::int64_t* counts, const float* scores,
                              const float* deltas, const float* rois, const std::int64_t* sizes,
                              const DetectionRules& rules, Stream stream);
HALFTONE_KERNEL(SelectDetections, select_detections);

}  // namespace kernels
