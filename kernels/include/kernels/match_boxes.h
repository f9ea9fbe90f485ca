#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// In place of a number, for a candidate that matches no box.
constexpr std::int64_t matches_background = -1, matches_nothing = -2;

struct MatchShape {
    std::int64_t images, boxes, candidates;
    bool shared = false;  ///< all pictures have the same candidates, (candidates, 4)
};
struct MatchRules {
    float high, low;  ///< IoU from which a candidate matches, and below which it is background
    bool low_quality;
};

/// Matches candidates (images, candidates, 4) to boxes (images, boxes, 4) y (images,
/// candidates). A candidate takes the box of its largest IoU, the first of equal ones: its number
/// if the IoU is >= high, matches_background below low, else matches_nothing. With `low_quality` so
/// does a candidate whose IoU with any box equals the largest that this box has, if that is above
/// 0. A candidate without area is an empty slot and matches nothing; a box without area is matched
/// by none. f32 in the order (x2 - x1) (y2 - y1), inter / (box + candidate - inter).
using MatchBoxes = void(std::int64_t* y, const float* boxes, const float* candidates,
                        const MatchShape& shape, const MatchRules& rules, Stream stream);
HALFTONE_KERNEL(MatchBoxes, match_boxes);

}  // namespace kernels
