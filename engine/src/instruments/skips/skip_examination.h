#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "engine/instruments/skip_report.h"
#include "instruments/skips/nonfinite_trace.h"
#include "train/run/step_capsule.h"

namespace engine {

struct ExaminationOptions {
    bool samples = true;  ///< compute the samples' shares
    std::int64_t max_samples = 256;
    /// Samples are computed one by one only if that takes no longer, by the time of the first.
    double patience_s = std::numeric_limits<double>::infinity();
    /// Called with the operations checked so far; may throw to give up.
    std::function<void(std::int64_t)> operation = [](std::int64_t) {};
    /// Called between parts; may throw to give up.
    std::function<void(const Message&)> progress = [](const Message&) {};
};

/// Computes a step again with a check after every operation, and in FP32, and finds why it was
/// skipped or came out non-finite. A function of the capsule alone: the caller fills in the run's
/// name and the step that made a damaged state. Throws Error.
SkipReport examine_step(const StepCapsule& capsule, const ExaminationOptions& options = {});

/// Exponents of the first non-finite tensor of a step, before and after. "After" is: in FP32, for a
/// tensor of the forward pass; for a gradient, at the loss scale at which the step passes, else at
/// half the scale. Computes the step twice. Nothing if the fault is not an output of an operation,
/// or the tensor does not occur again. `trace`: of the step. Throws Error.
std::optional<TensorHistograms> first_tensor_histograms(const StepCapsule& capsule,
                                                        const NonfiniteTrace& trace,
                                                        const SkipReport& report);

}  // namespace engine
