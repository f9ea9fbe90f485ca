#pragma once

#include <optional>

#include "instruments/skips/nonfinite_trace.h"
#include "train/run/step_capsule.h"

namespace engine {

/// Exponents of the first non-finite tensor of a step, before and after. "After" is: in FP32, for a
/// tensor of the forward pass; for a gradient, at the loss scale at which the step passes, else at
/// half the scale. Computes the step twice. Nothing if the fault is not an output of an operation,
/// or the tensor does not occur again. `trace`: of the step. Throws Error.
std::optional<TensorHistograms> first_tensor_histograms(const StepCapsule& capsule,
                                                        const NonfiniteTrace& trace,
                                                        const SkipReport& report);

}  // namespace engine
