#include "train/run/step_capsule.h"

#include "tasks/task_descriptor.h"
#include "tensor/device.h"
#include "train/run/saved_run.h"

namespace engine {

std::int64_t StepCapsule::step() const { return saved_count(before.counts, "steps") + 1; }

namespace {

/// Computes the step as it was, if the decisions are not known by now that other settings must not
/// make on their own.
void find_decisions(const StepCapsule& capsule, const RunConfig& config) {
    if (config == capsule.config || !capsule.decisions->empty()) return;
    if (make_task(capsule.config, capsule.data)->decides()) CapsuleStep(capsule).run();
}

}  // namespace

CapsuleStep::CapsuleStep(const StepCapsule& capsule, const RunConfig& config)
    : capsule_(capsule), change_(change_of(capsule.config, config)), before_(capsule.before) {
    find_decisions(capsule, config);
    const Device device = resolve_device(config.device);
    RunConfig copy = config;
    copy.model.init_from.clear();              // the weights come from the capsule
    copy.teach.resume_without_scaler = false;  // and so do the scales
    copy.teach.resume_without_history = false;
    trainer_ = std::make_unique<Trainer>(copy, device, capsule.data, capsule.planned);
    trainer_->set_recording(false);
    trainer_->set_decisions(capsule.decisions);
    const auto batches = std::ssize(capsule.batches);
    feed_ = make_ring_feed(device, trainer_->task().schema(true),
                           {.per_step = batches, .held = batches});
    if (before_.scaler.empty() && resolve(config.precision).scaler == ScalerMode::dynamic)
        before_.scaler = trainer_->saved_state().scaler;
    rewind();
}

void CapsuleStep::rewind() {
    trainer_->load_state(before_, change_);
    trainer_->set_rate_multiplier(capsule_.rate_multiplier);
}

CompletedStep CapsuleStep::run() { return trainer_->step(capsule_.batches, *feed_); }

}  // namespace engine
