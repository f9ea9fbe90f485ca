#pragma once

#include <string>

#include "engine/runs/run_store.h"
#include "support/part_figures.h"

namespace engine {

/// The normal end of a run.
inline RunDone done_of(const std::string& run) {
    return {run, DoneReason::epochs, 20, 18, 2, classified(0.5, 0.83), 1.5, 800, 1024};
}

inline RunConfig config_with_seed(std::int64_t seed) {
    RunConfig config;
    config.seed = seed;
    return completed(config);
}

}  // namespace engine
