#pragma once

#include "engine/train/session_options.h"

namespace engine {

/// The counterpart of a session on ranks other than 0: computes this rank's share of the run of
/// rank 0's session, in the calling thread, until that run has ended. `options.communicator`
/// connects the ranks. Reads data and checkpoints from the same paths, and writes nothing. Before
/// it throws an Error it ends the other ranks' calls with Communicator::abort().
void follow_run(const RunConfig& config, const SessionOptions& options);

}  // namespace engine
