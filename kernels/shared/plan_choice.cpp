#include "kernels/plan_choice.h"

#include <atomic>
#include <utility>

namespace kernels {
namespace {
thread_local PlanChoice current;
std::atomic<bool> races_allowed{true};
std::atomic<std::int64_t> races{0};
}  // namespace

PlanChoice plan_choice() noexcept {
    PlanChoice out = current;
    out.measured = out.measured && races_allowed;
    return out;
}

bool plan_races_allowed() noexcept { return races_allowed; }
void allow_plan_races(bool allowed) noexcept { races_allowed = allowed; }

std::int64_t plan_races() noexcept { return races; }
void count_plan_race() noexcept { ++races; }

PlanChoiceScope::PlanChoiceScope(const PlanChoice& choice) noexcept
    : before_(std::exchange(current, choice)) {}
PlanChoiceScope::~PlanChoiceScope() { current = before_; }

}  // namespace kernels
