#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"
#include "engine/train/session_options.h"
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

/// The schedule of the learning rate in a run of `planned` updates. Throws Error(settings) if
/// schedule.lengthened is not as write_lengthening() wrote it.
kernels::LearningRateSchedule make_schedule(const RunConfig& config, const PlannedSteps& planned);

/// Whether the schedule falls from the run's beginning to its planned end: more steps raise it.
bool falls_to_end(const RunConfig& config);

/// The position in its schedule of a run that gets more steps.
struct LongerRun {
    std::int64_t planned = 0;  ///< steps before it gets more
    std::int64_t steps = 0;    ///< made
    std::int64_t updates = 0;  ///< applied
};
/// The text of schedule.lengthened for the run of these settings when it gets more steps. Throws
/// Error(settings) for a run that was lengthened before and has not come to the end of its present
/// part.
std::string write_lengthening(const RunConfig& config, const LongerRun& run, LongerSchedule choice);

/// Sets config.schedule.lengthened for a run with the settings `saved` that is planned over
/// `planned` steps from now on, and adds what that means to `notes`. A schedule that falls to the
/// end of the run would raise the rate by orders of magnitude at the next step: throws
/// Error(settings) if it does and `choice` is LongerSchedule::ask.
void lengthen_schedule(RunConfig& config, const RunConfig& saved, const LongerRun& run,
                       const PlannedSteps& planned, LongerSchedule choice, std::vector<Message>& notes);

}  // namespace engine
