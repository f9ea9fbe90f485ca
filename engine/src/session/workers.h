#pragma once

#include "engine/run_config.h"
#include "parallel/communicator.h"

namespace engine {

/// Throws Error(settings) if `config` asks for other than the processes that there are. `ranks`:
/// null for one.
void check_workers(const RunConfig& config, const Communicator* ranks);

}  // namespace engine
