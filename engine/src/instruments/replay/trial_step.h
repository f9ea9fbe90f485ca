#pragma once

#include <memory>

#include "engine/instruments/xray.h"
#include "instruments/replay/step_gradients.h"
#include "train/run/step_capsule.h"

namespace engine {

/// The settings in FP32 alone: no autocast, no 16-bit weights, no forced types, no loss scale.
RunConfig in_fp32(RunConfig config);

/// A step that is computed under several settings and compared with itself in FP32.
class TrialStep {
public:
    /// Computes the step in FP32. The capsule must outlive this object. Throws Error.
    explicit TrialStep(const StepCapsule& capsule);
    /// Under these settings, on a copy; timed at the best of its next three runs. Throws Error.
    XrayOutcome outcome(const RunConfig& config) const;
    /// XrayOutcome::gradient_error alone.
    double gradient_error(const RunConfig& config) const;

private:
    const StepCapsule& capsule_;
    std::shared_ptr<StepGradients> exact_;
};

}  // namespace engine
