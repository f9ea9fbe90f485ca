#pragma once

#include <cstdint>

namespace kernels::cpu {

/// Greedy non-maximum suppression on the host. boxes (n, 4) as x1, y1, x2, y2; scores (n); groups
/// (n) or null: boxes suppress those of their own group only. Goes through the boxes by falling
/// score (NaN first, equal ones in the order of their places) and drops one whose intersection over
/// union with an earlier kept one is above `threshold` >= 0. Writes the places of the kept ones to
/// `keep` (n) in that order and returns how many there are.
///
/// f32 in the order (x2 - x1) (y2 - y1), inter / (a + b - inter); a NaN suppresses nothing.
std::int64_t nms(std::int64_t* keep, const float* boxes, const float* scores,
                 const std::int64_t* groups, std::int64_t n, double threshold);

}  // namespace kernels::cpu
