#include "instruments/histograms/sample_plan.h"

#include <algorithm>
#include <utility>

namespace engine {
namespace {

constexpr std::int64_t usual_interval = 50;
constexpr std::int64_t max_samples = 2000;
constexpr std::chrono::milliseconds min_pause{250};

}  // namespace

SamplePlan SamplePlan::automatic(std::int64_t planned_steps, std::int64_t kept, Clock now) {
    SamplePlan plan(usual_interval);
    plan.planned_ = planned_steps;
    plan.left_ = std::max<std::int64_t>(max_samples - kept, 0);
    plan.next_ = now();
    plan.now_ = std::move(now);
    return plan;
}

bool SamplePlan::wants(std::int64_t step) const {
    if (!now_) return every_ > 0 && step % every_ == 0;
    if (left_ <= 0) return false;
    if (step == planned_) return true;
    // The clock comes last: it is read once in 50 steps.
    return step % every_ == 0 && step >= due_ && now_() >= next_;
}

void SamplePlan::sampled(std::int64_t step) {
    if (!now_) return;
    --left_;
    next_ = now_() + min_pause;
    const std::int64_t remaining = planned_ - step;
    const bool saves = left_ <= max_samples / 2 && left_ > 0 && remaining > 0;
    due_ = step + (saves ? (remaining + left_ - 1) / left_ : 0);
}

}  // namespace engine
