#pragma once

#include "train/step_capsule.h"

namespace engine {

/// The first step of a run with these settings: weights as they are drawn or read, and the first
/// batches of its data. Nothing is kept of it. Throws Error.
StepCapsule first_step(const RunConfig& config);

}  // namespace engine
