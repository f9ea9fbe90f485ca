#pragma once

#include "train/run/step_capsule.h"

namespace engine {

/// The first step of a run with these settings, with its initial weights and first batches. Keeps
/// nothing. Throws Error.
StepCapsule first_step(const RunConfig& config);

}  // namespace engine
