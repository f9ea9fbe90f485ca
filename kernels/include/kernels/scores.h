#pragma once

#include "kernels/array.h"
#include "kernels/host_device.h"
#include "kernels/kernel.h"

namespace kernels {

/// Scores (logits) of two classes, counted in bins of equal width, from which the AUC is derived. A
/// histogram is i64 (size): the bins of class 0, those of class 1, and the number of NaN scores.
struct ScoreBins {
    static constexpr std::int64_t count = 8192;
    static constexpr double lowest = -16, highest = 16;  ///< scores beyond go into the outer bins
    static constexpr std::int64_t size = 2 * count + 1;

    /// Bin of a score that is not NaN. Scores below 0 are in the lower half of the bins.
    HALFTONE_HOST_DEVICE static std::int64_t bin_of(double score) {
        if (score < lowest) return 0;
        if (score >= highest) return count - 1;
        return static_cast<std::int64_t>((score - lowest) * (count / (highest - lowest)));
    }
};

/// Adds scores to a histogram. scores, floating, and labels, i64 and 0 or 1, of equal size.
using CountScores = void(std::int64_t* histogram, ConstArray scores, ConstArray labels,
                         Stream stream);
HALFTONE_KERNEL(CountScores, count_scores);

/// Sums over a histogram, pairs being those of a sample of class 1 and one of class 0:
///   sums[0] += pairs whose sample of class 1 is in the higher bin, and half of those in one bin,
///   sums[1] += pairs,
///   sums[2] += samples of class 1 with scores from 0 on and of class 0 with scores below.
/// sums[0] / sums[1] is the AUC; it is off by at most half the share of the pairs in one bin. A NaN
/// among the scores makes sums[0] NaN.
using AddScorePairs = void(double* sums, const std::int64_t* histogram, Stream stream);
HALFTONE_KERNEL(AddScorePairs, add_score_pairs);

}  // namespace kernels
