#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/record/twin.h"
#include "engine/runs/run_store.h"

namespace engine {

/// Lists the runs of a comparison or a twin as planned at its start. Each run keeps the list, so
/// that the runs that a kill prevented can be begun later.
struct GroupPlan {
    struct Run {
        RunConfig config;
        std::filesystem::path folder = {};  ///< empty: a new one in the history
    };
    std::vector<Run> runs;            ///< in the order in which they begin
    std::optional<TwinOptions> twin;  ///< of a twin, whose reference is the first run
};

/// The plan as text for SessionOptions::group_plan. Empty for a plan of more than 256 runs, all of
/// which would keep it.
std::string group_plan_json(const GroupPlan& plan);
/// Writes it into the folder of a run. Throws Error(io).
void keep_group_plan(const std::filesystem::path& run_folder, const std::string& json);
/// The plan that one of these runs keeps; nothing for runs of a sweep or of an earlier version.
std::optional<GroupPlan> plan_of_group(std::span<const RunSummary> runs);
/// The runs of the plan that were never begun, in its order.
std::vector<GroupPlan::Run> unstarted_runs(const GroupPlan& plan, std::span<const RunSummary> runs);
/// A run was deleted on purpose: the plans of the others no longer have it.
void drop_from_plan(std::span<const RunSummary> others, const RunSummary& deleted);

/// Whether these are the two runs of a twin, or the one that was begun.
bool is_twin(std::span<const RunSummary> runs);

}  // namespace engine
