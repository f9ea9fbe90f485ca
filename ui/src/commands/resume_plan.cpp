#include "commands/resume_plan.h"

#include <algorithm>

#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"

namespace ui {

namespace {

/// The runs with which one goes on as it did: both halves of a twin, which is coupled again, or what
/// is left of a comparison of which this run alone was begun. Empty for other runs.
engine::GroupRuns runsThatGoOnWith(const engine::RunSummary& run, const engine::RunStore& store) {
    if (run.group.empty() || engine::is_sweep_group(run.group) || !engine::is_unfinished(run))
        return {};
    auto runs = engine::runs_of_group(store.list(), run.group);
    if (!std::ranges::all_of(runs, engine::is_unfinished)) return {};
    if (runs.size() > 1) return engine::is_twin(runs) ? runs : engine::GroupRuns();
    const auto plan = engine::plan_of_group(runs);
    return plan && !engine::unstarted_runs(*plan, runs).empty() ? runs : engine::GroupRuns();
}

}  // namespace

ResumePlans planResume(const std::vector<engine::RunSummary>& runs, const ResumeChoice* choice,
                       const engine::RunStore* store) {
    if (choice != nullptr && choice->changes.empty() && store != nullptr) {
        const auto together = runsThatGoOnWith(runs.front(), *store);
        if (!together.empty()) return engine::plan_group_resume(together);
    }
    if (choice == nullptr) return engine::plan_group_resume(runs);
    engine::ResumePlan plan = engine::plan_resume(runs.front(), "last", choice->changes);
    if (!plan.errors.empty())
        throw engine::Error(engine::ErrorCode::settings, plan.errors.front().str());
    plan.continuation.schedule = choice->schedule;
    return {{runs.front(), std::move(plan)}};
}

}  // namespace ui
