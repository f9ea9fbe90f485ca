#pragma once

#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "engine/train/resume.h"

namespace ui {

/// Changes of a run that is resumed.
struct ResumeChoice {
    std::vector<std::string> changes = {};  ///< "path=value"; none: it goes on as it was
    engine::LongerSchedule schedule = engine::LongerSchedule::ask;
};

/// How runs go on.
using ResumePlans = std::vector<engine::GroupMemberPlan>;

/// Reads the last checkpoints of these runs: not for the GUI thread. Throws engine::Error.
/// `choice`: how the first of them goes on by itself; null: all go on as the runs of a comparison.
/// A run that goes on as it was takes along what it cannot go on without: the other half of a twin,
/// or the runs of its comparison that were not begun.
ResumePlans planResume(const std::vector<engine::RunSummary>& runs, const ResumeChoice* choice,
                       const engine::RunStore* store);

}  // namespace ui
