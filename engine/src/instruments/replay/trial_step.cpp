#include "instruments/replay/trial_step.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "io/file/work_progress.h"

namespace engine {
namespace {

std::shared_ptr<StepGradients> gradients_under(CapsuleStep& step, double* loss = nullptr) {
    auto gradients = std::make_shared<StepGradients>();
    step.trainer().attach(gradients);
    const FinishedStep finished = step.run();
    step.trainer().detach(*gradients);
    if (loss != nullptr) *loss = finished.row.loss;
    return gradients;
}

}  // namespace

RunConfig in_fp32(RunConfig config) {
    config.precision = {};
    config.precision.preset = "fp32";
    return config;
}

TrialStep::TrialStep(const StepCapsule& capsule) : capsule_(capsule) {
    CapsuleStep step(capsule, in_fp32(capsule.config));
    exact_ = gradients_under(step);
}

XrayOutcome TrialStep::outcome(const RunConfig& config) const {
    using Clock = std::chrono::steady_clock;
    CapsuleStep step(capsule_, config);
    XrayOutcome out;
    out.gradient_error = relative_error(*gradients_under(step, &out.loss), *exact_);
    out.found_inf = std::isinf(out.gradient_error);
    out.step_ms = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {  // the best: whatever else the machine does only takes time
        poll_work();
        step.rewind();
        const auto start = Clock::now();
        step.run();
        const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
        out.step_ms = std::min(out.step_ms, taken.count());
        out.slowest_ms = std::max(out.slowest_ms, taken.count());
    }
    out.peak_bytes = step.trainer().accounting()->peak();
    return out;
}

double TrialStep::gradient_error(const RunConfig& config) const {
    CapsuleStep step(capsule_, config);
    return relative_error(*gradients_under(step), *exact_);
}

}  // namespace engine
