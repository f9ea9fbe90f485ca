#pragma once

#include <vector>

#include "train/run/saved_run.h"

namespace engine {

/// How the settings of the run that goes on differ from those that it was saved with.
StateChange change_of(const RunConfig& saved, const RunConfig& now);

/// The parts of a checkpoint that a run with these settings takes over, one sentence each.
std::vector<Message> restored_parts(const SavedRun& saved, const RunConfig& now);

}  // namespace engine
