#pragma once

#include <memory>

#include "engine/run_config.h"
#include "optim/optimizer.h"

namespace engine {

/// The optimizer that the settings name, on these parameters; LARC is added to the options where
/// the settings have it. The settings must have passed validate().
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          std::vector<Parameter> parameters,
                                          OptimizerOptions options);

/// Bytes of state it keeps for each number of the model.
std::int64_t optimizer_state_bytes(const OptimizerConfig& config,
                                   const ResolvedPrecision& precision);

/// The schedule of the learning rate in a run of `planned` updates.
kernels::LearningRateSchedule schedule_of(const RunConfig& config, std::int64_t planned);

}  // namespace engine
