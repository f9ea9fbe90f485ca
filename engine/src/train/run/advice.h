#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "engine/base/message.h"
#include "engine/record/step_outcome.h"
#include "engine/settings/run_config.h"

namespace engine {

// Advice on a cause, in the same words wherever it is met: in the events of a run, in the
// examination of a skipped step, in the window, and by lint.

/// A value of the forward pass is beyond FP16.
Message forward_overflow_advice();
/// A number of the data is not finite, or too large for any precision: one was seen, or the loss is
/// not finite although no update has changed the weights, and not for FP16's range.
Message non_finite_input_advice();
/// The gradients overflow at a static scale; `fitting` does not. Empty: not known.
Message static_scale_advice(const std::string& fitting);
/// The loss left the finite range after updates of these settings.
Message divergence_advice(const RunConfig& config);
/// The advice on a loss that is not finite in a run of these settings; `updated`: an update that
/// followed a finite loss has changed the weights, before which no rate and no clipping matters.
Message non_finite_loss_advice(const RunConfig& config, bool updated);

/// How a run came to a loss that is not finite. One rule for the error that ends the run and for
/// the examination of a step, so that one cause has one piece of advice.
class FaultCourse {
public:
    explicit FaultCourse(const RunConfig& config) : config_(config) {}

    /// Takes rows in the order of their steps; some may be left out.
    void see(const StepRecord& row);
    Message advice() const;
    /// Updates have driven the loss to ten times its first value, or more.
    bool grew() const;

private:
    /// The loss was below its first one, so the rate is not to blame.
    bool was_learning() const;

    const RunConfig& config_;
    float first_loss_ = std::numeric_limits<float>::quiet_NaN();
    float last_loss_ = std::numeric_limits<float>::quiet_NaN();  ///< the last finite one
    std::int64_t first_step_ = 0;  ///< that was seen
    std::int64_t updates_ = 0;
    bool overflowed_ = false;  ///< gradients that were not finite were applied
};

/// All steps of an epoch were skipped, with the advice on its cause.
Message idle_epoch_warning(const RunConfig& config, std::int64_t epoch, std::int64_t steps);

}  // namespace engine
