#pragma once

#include <cstdint>

#include "engine/record/step_record.h"

namespace engine {

/// How the losses of two runs of the same batches differ, step by step: d = other - baseline.
///
/// Read from at most 64 windows of 32 neighbouring steps spread over what both have, so that the
/// cost does not grow with the runs. `noise` is how far apart the means of two equal runs may be
/// found: two standard deviations of d over the recent steps (the last quarter of the windows, at
/// least three). `gap` is the mean of d over these.
struct LossGap {
    std::int64_t steps = 0;     ///< that both have
    std::int64_t compared = 0;  ///< recent steps with two finite losses; below 8 nothing is known
    double gap = 0;
    double noise = 0;
    double level = 0;  ///< mean loss of the baseline over the recent steps
    /// The first step from which one loss is not a number to the end; 0: the last is one.
    std::int64_t baseline_lost = 0;
    std::int64_t other_lost = 0;
    /// The step from which the gap stayed beyond noise and above a fiftieth of the loss; 0: it is
    /// below that now.
    std::int64_t parted = 0;

    /// Whether noise does not explain the gap. If it is not large() it is a lag rather than a
    /// divergence, as a few skipped updates cause.
    bool beyond_noise() const { return compared >= 8 && size() > noise; }
    bool large() const { return size() > 0.02 * (level < 0 ? -level : level); }
    double size() const { return gap < 0 ? -gap : gap; }
};

/// Compares the rows from `first_row` on; LossGap::steps counts them from there.
LossGap loss_gap(const StepRecordReader& baseline, const StepRecordReader& other,
                 std::int64_t first_row = 0);

}  // namespace engine
