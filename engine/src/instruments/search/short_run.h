#pragma once

#include <cstdint>
#include <functional>

#include "engine/settings/run_config.h"

namespace engine {

/// The result of a few steps of training.
struct ShortRun {
    double loss = 0;  ///< mean over the last quarter of the steps
    std::int64_t skipped = 0;
};

/// Trains from the start for `steps` steps; keeps nothing. `after_step` may throw, which ends
/// the training. Throws Error.
ShortRun short_run(
    const RunConfig& config, std::int64_t steps, const std::function<void()>& after_step = [] {});

}  // namespace engine
