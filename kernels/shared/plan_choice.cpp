#include "kernels/plan_choice.h"

#include <atomic>
#include <utility>

namespace kernels {
namespace {
thread_local PlanChoice current;
std::atomic<bool> races_allowed{true};
}  // namespace

PlanChoice plan_choice() noexcept {
    PlanChoice out = current;
    out.measured = out.measured && races_allowed;
    return out;
}

bool plan_races_allowed() noexcept { return races_allowed; }
void allow_plan_races(bool allowed) noexcept { races_allowed = allowed; }

PlanChoiceScope::PlanChoiceScope(const PlanChoice& choice) noexcept
    : before_(std::exchange(current, choice)) {}
PlanChoiceScope::~PlanChoiceScope() { current = before_; }

}  // namespace kernels
