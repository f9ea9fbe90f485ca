#include "kernels/plan_use.h"

#include <utility>

namespace kernels {
namespace {
thread_local std::vector<std::string>* current = nullptr;
}

std::vector<std::string>* plan_uses() noexcept { return current; }

PlanUseScope::PlanUseScope(std::vector<std::string>& used) noexcept
    : before_(std::exchange(current, &used)) {}
PlanUseScope::~PlanUseScope() { current = before_; }

}  // namespace kernels
