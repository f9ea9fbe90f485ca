#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"

namespace engine {

struct StepCapsule;

/// A copy of one step of a run on the host: settings, the state before the step, its batches.
/// Instruments compute the step again on further copies (engine/instruments/xray.h,
/// engine/instruments/microscope.h, engine/instruments/precision_search.h), so the run is not
/// affected. Cheap to copy; immutable, so any thread may read it.
class CapturedStep {
public:
    explicit CapturedStep(std::shared_ptr<const StepCapsule> capsule);

    /// The number of the step, from 1.
    std::int64_t step() const;
    const RunConfig& config() const;
    const StepCapsule& capsule() const { return *capsule_; }

private:
    std::shared_ptr<const StepCapsule> capsule_;
};

/// The first step of these settings, on a model as it is initialised or read. Keeps nothing. Throws
/// Error.
CapturedStep capture_first_step(const RunConfig& config);
/// Computes a step of a run again, from its newest checkpoint before the step, or from the start.
/// The run's folder is only read, so the run may still be training. Throws Error(data) if the run
/// has not reached the step, Error(state) if the run cannot be restored to it, and what opening the
/// data set throws. `replay` is called before each step that is computed again on the way, with the
/// number of those left; it may throw to give up.
CapturedStep capture_step(
    const std::filesystem::path& run_folder, std::int64_t step,
    const std::function<void(std::int64_t)>& replay = [](std::int64_t) {});
/// How many steps capture_step() computes again on the way. Counts on every checkpoint that is
/// listed, so the figure is too small if one turns out to be damaged. Throws Error.
std::int64_t steps_to_replay(const std::filesystem::path& run_folder, std::int64_t step);

/// Answer to Session::capture_next_step().
struct NextStepCapture {
    std::optional<CapturedStep> step;
    Message problem;  ///< why there is none
};

}  // namespace engine
