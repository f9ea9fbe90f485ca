#include "engine/captured_step.h"

#include <utility>

#include "instruments/first_step.h"
#include "instruments/run_replay.h"
#include "train/step_capsule.h"

namespace engine {

CapturedStep::CapturedStep(std::shared_ptr<const StepCapsule> capsule)
    : capsule_(std::move(capsule)) {}

std::int64_t CapturedStep::step() const { return capsule_->step(); }

const RunConfig& CapturedStep::config() const { return capsule_->config; }

CapturedStep capture_first_step(const RunConfig& config) {
    return CapturedStep(std::make_shared<const StepCapsule>(first_step(config)));
}

CapturedStep capture_step(const std::filesystem::path& run_folder, std::int64_t step) {
    return CapturedStep(std::make_shared<const StepCapsule>(capsule_before(run_folder, step)));
}

}  // namespace engine
