#include "engine/instruments/captured_step.h"

#include <algorithm>
#include <utility>

#include "engine/runs/checkpoint.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/scratch_folder.h"
#include "train/run/run_loop.h"
#include "train/run/step_capsule.h"

namespace engine {

CapturedStep::CapturedStep(std::shared_ptr<const StepCapsule> capsule)
    : capsule_(std::move(capsule)) {}

std::int64_t CapturedStep::step() const { return capsule_->step(); }

const RunConfig& CapturedStep::config() const { return capsule_->config; }

CapturedStep capture_first_step(const RunConfig& config) {
    const ScratchFolder scratch;
    RunStore store(scratch.path() / "runs");
    SessionOptions options;
    options.save_checkpoints = false;
    RunLoop loop(config, &store, options, [](const Event&) {});
    loop.prepare({});
    return CapturedStep(std::make_shared<const StepCapsule>(loop.capsule()));
}

CapturedStep capture_step(const std::filesystem::path& run_folder, std::int64_t step,
                          const std::function<void(std::int64_t)>& replay) {
    return CapturedStep(
        std::make_shared<const StepCapsule>(capsule_before(run_folder, step, replay)));
}

std::int64_t steps_to_replay(const std::filesystem::path& run_folder, std::int64_t step) {
    std::int64_t start = 0;
    for (const CheckpointInfo& each : list_checkpoints(run_folder))
        if (each.step < step) start = std::max(start, each.step);
    return std::max<std::int64_t>(step - 1 - start, 0);
}

}  // namespace engine
