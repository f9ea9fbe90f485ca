#pragma once

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

/// The calling thread's choice; the default one outside all scopes.
PlanChoice plan_choice() noexcept;

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

}  // namespace kernels
