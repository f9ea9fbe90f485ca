#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "engine/message.h"
#include "engine/run_config.h"

namespace engine {

struct StepCapsule;

/// A copy of one step of a run on the host: settings, the state before the step, its batches.
/// Instruments compute the step again on further copies (engine/xray.h, engine/microscope.h,
/// engine/precision_search.h), so the run is not affected. Cheap to copy; immutable, so any thread
/// may read it.
class CapturedStep {
public:
    explicit CapturedStep(std::shared_ptr<const StepCapsule> capsule);

    /// From 1.
    std::int64_t step() const;
    const RunConfig& config() const;
    const StepCapsule& capsule() const { return *capsule_; }

private:
    std::shared_ptr<const StepCapsule> capsule_;
};

/// The first step of these settings, on a model as it is initialised or read. Throws Error.
CapturedStep capture_first_step(const RunConfig& config);
/// Computes a step of a run again, from its newest checkpoint before the step, or from the start.
/// The run's folder is only read, so the run may still be training. Throws Error(data) if the run
/// has not reached the step, Error(state) if the run cannot be restored to it, and what opening the
/// data set throws.
CapturedStep capture_step(const std::filesystem::path& run_folder, std::int64_t step);

/// Answer to Session::capture_next_step().
struct NextStepCapture {
    std::optional<CapturedStep> step;
    Message problem;  ///< why there is none
};

}  // namespace engine
