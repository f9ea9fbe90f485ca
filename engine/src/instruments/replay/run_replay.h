#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

#include "train/run/step_capsule.h"

namespace engine {

/// Brings a run back to where it was before one of its steps: from its newest checkpoint before the
/// step, or from the start, computing the steps between again, bit for bit. The run's folder is
/// only read, so the run may still be training. One thread at a time.
class RunReplay {
public:
    /// `step`: from 1 to the one after the last in the run's record. Throws Error(value) for
    /// another one, Error(state) for a run that another program trained, for one that its twin
    /// changed since the checkpoint (a resync, a step skipped with it), or for one that went on
    /// from a parent and kept no checkpoint before the step, and whatever opening the data set
    /// throws. `newest`: of the checkpoints, those after more steps are left out.
    RunReplay(const std::filesystem::path& run_folder, std::int64_t step,
              std::int64_t newest = std::numeric_limits<std::int64_t>::max());
    ~RunReplay();
    RunReplay(const RunReplay&) = delete;
    RunReplay& operator=(const RunReplay&) = delete;

    /// Steps still to be computed.
    std::int64_t remaining() const;
    /// Computes one more step; false if none is left. Throws Error.
    bool advance();
    /// The state after the steps computed so far.
    TrainingState state();
    /// The requested step, once all steps before it are computed.
    StepCapsule capsule();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// All of it at once. `progress` is called with the steps still to be computed and may throw.
StepCapsule capsule_before(
    const std::filesystem::path& run_folder, std::int64_t step,
    const std::function<void(std::int64_t)>& progress = [](std::int64_t) {});

}  // namespace engine
