#pragma once

#include <optional>
#include <vector>

#include "engine/instruments/skip_report.h"
#include "train/run/step_capsule.h"

namespace engine {

/// Changes for computing a step again.
struct TrialChange {
    std::optional<double> scale{};  ///< the loss scale
    /// Leaves out this row of the batch: of all micro-batches if streams carry state, else of
    /// `micro_batch`.
    std::optional<std::int64_t> without_row{};
    std::int64_t micro_batch = 0;
    bool fp32 = false;
};

/// The capsule's settings in FP32 without a loss scale.
RunConfig fp32_config(const RunConfig& config);

/// The capsule with another loss scale, where its precision has one. Its batches are copied.
StepCapsule with_scale(const StepCapsule& capsule, double scale);

/// The step of the capsule with some rows of its batch alone, in this order, and the carried state
/// of these streams. Throws Error(value) for an out-of-range row, for no rows, and for a batch
/// with a packed field, whose rows cannot be taken apart.
StepCapsule with_rows(const StepCapsule& capsule, std::int64_t micro_batch,
                      const std::vector<std::int64_t>& rows);

/// Computes the step with the change. Throws Error.
StepTrial try_step(const StepCapsule& capsule, const TrialChange& change);

/// The step at its own scale, at half of it, a quarter, and so on, down to 1 or to the first scale
/// at which it passes. Without a loss scale above 1: only the step as it is.
std::vector<StepTrial> scale_ladder(const StepCapsule& capsule, double scale);

}  // namespace engine
