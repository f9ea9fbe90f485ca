#pragma once

#include "engine/session.h"

namespace engine {

/// What a rank other than 0 does in place of a session: its share of the run that rank 0's session
/// asks for, in the calling thread, until that run has ended. `options.communicator` joins the
/// ranks; data and checkpoints are read from the same paths, and nothing is written. Throws Error;
/// then the other ranks' calls have been ended by Communicator::abort().
void follow_run(const RunConfig& config, const SessionOptions& options);

}  // namespace engine
