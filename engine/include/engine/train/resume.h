#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "engine/train/session_options.h"

namespace engine {

/// How a run is to go on.
struct ResumePlan {
    RunConfig config;                  ///< of the run with the changes
    Continuation continuation;         ///< for SessionOptions
    std::int64_t step = 0;             ///< steps made before; 0: it starts again
    std::vector<SettingError> errors;  ///< of the changes; not empty: it cannot go on like that
    std::vector<Message> notes;        ///< damaged checkpoints that were passed over
};

/// Plans to continue a run from a checkpoint: "last" (the newest whole one; from the start if the
/// run never had one), "best" or a number of steps; or "start", as a new run. Without changes the
/// run itself continues, unless later checkpoints exist. With changed settings ("path=value") or
/// from an earlier checkpoint it becomes a new run that names this one as its parent; with another
/// network's text it begins at step 0 from this one's weights by their names. Throws
/// Error(data) if there is no such checkpoint or it is damaged, or if none of the run's checkpoints
/// can be read; Error(settings) if the run has made all of its steps, and Error(state) if another
/// program trained it.
ResumePlan plan_resume(const RunSummary& run, const std::string& from = "last",
                       const std::vector<std::string>& changes = {});

/// How a run of a group goes on.
struct GroupMemberPlan {
    RunSummary run;
    ResumePlan plan;
    /// The run was never begun: it starts with the plan's settings, `run` has its group alone.
    bool is_new = false;
    std::filesystem::path folder = {};  ///< of a new run; empty: a new one in the history
    std::string group_plan = {};        ///< SessionOptions::group_plan of a new run
    std::shared_ptr<Twin> twin = {};    ///< of a twin that goes on coupled: both have the same
    Twin::Side side = Twin::Side::reference;
    /// How its session goes on. `accept_data`, and what the caller wants besides, are not set.
    SessionOptions options() const;
};
/// Plans to continue all runs of a comparison, twin or sweep that were stopped, were killed or
/// failed, each itself, from its last checkpoint, and to begin those of a comparison that were never
/// begun (engine/runs/group_plan.h). Throws as plan_resume() does, Error(state) if one of the runs is
/// being trained, or if the halves of a twin cannot be coupled again, and Error(settings) if there
/// is nothing to continue.
std::vector<GroupMemberPlan> plan_group_resume(const std::vector<RunSummary>& runs);

/// Whether the learning rate of these settings falls to the planned end of the run, so that a run
/// that gets more steps needs a choice (LongerSchedule).
bool schedule_falls(const RunConfig& config);

/// The events of a run that still count when it continues after `step`: leaves out its end and
/// everything later.
std::vector<Event> events_up_to(std::int64_t step, std::vector<Event> events);

}  // namespace engine
