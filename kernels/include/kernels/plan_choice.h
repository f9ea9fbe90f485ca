#pragma once

#include <cstdint>

namespace kernels {

/// Which of a GPU library's algorithms for an operation may compute it.
struct PlanChoice {
    /// The fastest of them, timed when the operation is first computed (PlanStore keeps the
    /// winner). Otherwise the one that the library names first.
    bool measured = false;
    /// Only those that give the same bits in every run.
    bool bit_stable = true;
    bool operator==(const PlanChoice&) const = default;
};

/// The calling thread's choice; the default one outside all scopes. Never `measured` while races
/// are off.
PlanChoice plan_choice() noexcept;

/// Whether this process may time algorithms: yes, unless it has switched that off. Tests of results
/// do, because a race takes a second and its winner is no part of what they check.
bool plan_races_allowed() noexcept;
void allow_plan_races(bool allowed) noexcept;

/// Races of this process so far. What follows a race is not of the speed that later steps have.
std::int64_t plan_races() noexcept;
void count_plan_race() noexcept;

}  // namespace kernels
