#pragma once

#include "engine/settings/run_config.h"
#include "parallel/communicator.h"

namespace engine {

/// Throws Error(settings) if the workers of `config` differ from the number of ranks. Null `ranks`
/// is one process.
void check_workers(const RunConfig& config, const Communicator* ranks);

}  // namespace engine
