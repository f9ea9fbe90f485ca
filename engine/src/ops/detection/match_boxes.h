#pragma once

#include "ops/detection/box_parts.h"

namespace engine {

/// From which IoU a candidate matches a box, and below which it is background. A comparison is of
/// f32 numbers.
struct MatchOptions {
    double high = 0.7, low = 0.3;
    /// For each box, candidates whose IoU equals its largest match too.
    bool low_quality = true;

    void read(auto& from) { from("high", high)("low", low)("low_quality", low_quality); }
};

/// Assigns boxes to candidates: boxes (N, G, 4) and candidates (N, A, 4), or (A, 4) for all pictures,
/// give (N, A), i64: the number of the candidate's best box (the first of equal IoU) where it
/// matches, -1 where it is background, -2 where it is neither. With low_quality also a candidate
/// whose IoU equals the best one of any box, above 0, gets its own best box. A box without area is
/// matched by none, so rows of zeros may fill a list; a candidate without area is an empty slot, -2.
/// No gradient. Source: torchvision's Matcher.
Tensor match_boxes(const Tensor& boxes, const Tensor& candidates, const MatchOptions& options = {});
inline constexpr Op match_boxes_op(
    CastPolicy::f32, "match_boxes(boxes, candidates; high=0.7, low=0.3, low_quality=True)",
    boxes_are_pixels, by_name<match_boxes>, no_gradient);

}  // namespace engine
