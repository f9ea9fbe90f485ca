#include "session/workers.h"

#include "engine/base/error.h"

namespace engine {

void check_workers(const RunConfig& config, const Communicator* ranks) {
    const std::int64_t here = ranks ? ranks->size() : 1;
    if (config.workers == here) return;
    throw Error(ErrorCode::settings,
                msg("workers: {}: this run has {} processes.", config.workers, here),
                msg("Start it with halftone train, which starts the workers, or with mpirun."));
}

}  // namespace engine
