#pragma once

#include <vector>

#include "engine/base/message.h"
#include "engine/verdict/verdict.h"

namespace engine {

/// The cost of the second run compared with the first, as parts of a sentence: speed, then memory.
/// Speeds differ only if SpeedGap exceeds noise, and by no more than it supports. Empty if the
/// speeds are unknown.
std::vector<Message> cost_of(const RunFigures& baseline, const RunFigures& other);

/// The figures that cost_of() compares, in sentences; empty where it is.
std::vector<Message> cost_evidence(const RunFigures& baseline, const RunFigures& other);

}  // namespace engine
