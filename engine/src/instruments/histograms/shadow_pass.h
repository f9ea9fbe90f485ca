#pragma once

#include "engine/record/histogram_record.h"
#include "train/run/step_capsule.h"

namespace engine {

/// The settings of a capsule's step in FP32 without a loss scale.
RunConfig shadow_config(const RunConfig& config);

/// Computes the capsule's step in FP32 on a copy, with the dropout masks and the carried state of
/// the original, and counts it (HistogramSample::shadow). Nothing of the run changes. Throws Error.
HistogramSample shadow_pass(const StepCapsule& capsule);

}  // namespace engine
