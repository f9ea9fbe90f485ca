#pragma once

#include <vector>

#include "engine/message.h"
#include "engine/verdict.h"

namespace engine {

/// What the second run costs beside the first, as parts of a sentence: speed, then memory. A speed
/// differs only where SpeedGap is clear of noise, and by no more than it bears. Empty where the
/// speeds are not known.
std::vector<Message> cost_of(const RunFigures& baseline, const RunFigures& other);

/// The figures that cost_of() compares, in sentences; empty where it is.
std::vector<Message> cost_evidence(const RunFigures& baseline, const RunFigures& other);

}  // namespace engine
