#pragma once

#include "kernels/plan_choice.h"
#include "kernels/plan_store.h"
#include "temp_folder.h"

namespace kernels::test {

/// While it lives the fastest of a library's algorithms compute, measured anew.
class MeasuredChoice {
public:
    MeasuredChoice() { set_plan_store(&store_); }
    ~MeasuredChoice() { set_plan_store(nullptr); }
    MeasuredChoice(const MeasuredChoice&) = delete;
    MeasuredChoice& operator=(const MeasuredChoice&) = delete;

private:
    test_support::TempFolder folder_;
    PlanStore store_{folder_.path() / "measured-plans"};
    PlanChoiceScope scope_{{.measured = true}};
};

}  // namespace kernels::test
