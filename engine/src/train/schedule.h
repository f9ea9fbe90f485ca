#pragma once

#include "engine/run_config.h"
#include "kernels/step_figures.h"

namespace engine {

/// The schedule of a run of `planned` updates.
inline kernels::LearningRateSchedule schedule_of(const RunConfig& config, std::int64_t planned) {
    return {config.optimizer.lr, config.schedule.kind == "cosine", planned};
}

}  // namespace engine
