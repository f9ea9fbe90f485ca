#include "kernels/plan_choice.h"

#include <utility>

namespace kernels {
namespace {
thread_local PlanChoice current;
}

PlanChoice plan_choice() noexcept { return current; }

PlanChoiceScope::PlanChoiceScope(const PlanChoice& choice) noexcept
    : before_(std::exchange(current, choice)) {}
PlanChoiceScope::~PlanChoiceScope() { current = before_; }

}  // namespace kernels
