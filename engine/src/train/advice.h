#pragma once

#include "engine/message.h"
#include "engine/run_config.h"

namespace engine {

// What to do about a cause, in the same words wherever it is met: in the events of a run, in the
// examination of a skipped step, in the window, and by lint.

/// A value of the forward pass is beyond FP16.
Message forward_overflow_advice();
/// The loss is not finite although no update has changed the weights, and not for FP16's range.
Message non_finite_input_advice();
/// The loss left the finite range after updates of these settings.
Message divergence_advice(const RunConfig& config);

}  // namespace engine
