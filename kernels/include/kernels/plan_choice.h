#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// The choice of the calling thread while it lives.
class PlanChoiceScope {
public:
    explicit PlanChoiceScope(const PlanChoice& choice) noexcept;
    ~PlanChoiceScope();
    PlanChoiceScope(const PlanChoiceScope&) = delete;
    PlanChoiceScope& operator=(const PlanChoiceScope&) = delete;

private:
    PlanChoice before_;
};

/// The names of the libraries' algorithms that compute on the calling thread while it lives, in
/// order, such as "cuDNN eng0_k2=3" or "oneDNN jit:avx512_core".
class PlanUseScope {
public:
    explicit PlanUseScope(std::vector<std::string>& used) noexcept;
    ~PlanUseScope();
    PlanUseScope(const PlanUseScope&) = delete;
    PlanUseScope& operator=(const PlanUseScope&) = delete;

private:
    std::vector<std::string>* before_;
};

/// Where the thread's innermost scope collects them; null outside all scopes, so that nobody makes
/// names that nobody reads.
std::vector<std::string>* plan_uses() noexcept;

}  // namespace kernels
