#pragma once

#include <deque>
#include <optional>

#include "engine/base/error.h"
#include "train/step/figure_ring.h"
#include "train/step/step_row.h"

namespace engine {

/// A step as its figures tell it, and the scale of the step after it (1 without a scaler).
struct FinishedStep {
    StepRecord row;
    kernels::MetricSums sums{};
    double next_loss_scale = 1;
    std::int64_t state_resets = 0;  ///< streams whose carried state was not finite
    std::optional<Error> refused;   ///< a value of the step, found on a GPU: the run is to end
};

/// The values that leave the device: the figures of the steps in flight, and the host's part of
/// each.
class StepFigures {
public:
    explicit StepFigures(const Device& device) : ring_(device) {}

    /// Marks of the step that begins; the last mark is made by push().
    StepMarks& marks() { return ring_.marks(); }
    /// The step ends: its figures start on their way. `row` holds what the host knows.
    void push(const DeviceRecord<kernels::StepFigures>& figures, const StepRecord& row);
    /// The oldest step, if one more than may be in flight was pushed, or if `all`.
    std::optional<FinishedStep> take(bool all, const RowOptions& meaning);

private:
    FigureRing ring_;
    std::deque<StepRecord> in_flight_;
};

}  // namespace engine
