#pragma once

#include <optional>

#include "instruments/nonfinite_trace.h"
#include "train/step_capsule.h"

namespace engine {

/// Exponents of the first non-finite tensor of a step: as it was, and at the loss scale at which
/// the step passes, else at half of it (of a gradient), or in FP32 (of a tensor of the forward
/// pass). Computes the step twice. Nothing where the fault is no output of an operation, or the
/// tensor does not come up again. `trace`: of the step. Throws Error.
std::optional<TensorHistograms> first_tensor_histograms(const StepCapsule& capsule,
                                                        const NonfiniteTrace& trace,
                                                        const SkipReport& report);

}  // namespace engine
