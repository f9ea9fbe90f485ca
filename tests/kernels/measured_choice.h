#pragma once

#include "kernels/thread_context.h"
#include "kernels/plan_store.h"
#include "temp_folder.h"

namespace kernels::test {

/// Allows races while it lives, also in a program whose tests use first choices.
class PlanRaces {
public:
    PlanRaces() { allow_plan_races(true); }
    ~PlanRaces() { allow_plan_races(before_); }
    PlanRaces(const PlanRaces&) = delete;
    PlanRaces& operator=(const PlanRaces&) = delete;

private:
    const bool before_ = plan_races_allowed();
};

/// While it lives the fastest of a library's algorithms compute, measured anew.
class MeasuredChoice {
public:
    MeasuredChoice() { set_plan_store(&store_); }
    ~MeasuredChoice() { set_plan_store(nullptr); }
    MeasuredChoice(const MeasuredChoice&) = delete;
    MeasuredChoice& operator=(const MeasuredChoice&) = delete;

private:
    PlanRaces races_;
    test_support::TempFolder folder_;
    PlanStore store_{folder_.path() / "measured-plans"};
    PlanChoiceScope scope_{{.measured = true}};
};

}  // namespace kernels::test
