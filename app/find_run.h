#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/runs/run_listing.h"

namespace app {

/// Finds a run: by its folder if the name is a path, else by its number or title in the history
/// (the newest of several), or its folder in the current directory. If there is none, prints that
/// on standard error. Its events are those that `keep` wants, by default none.
std::optional<engine::ListedRun> find_run(const std::string& name,
                                          const engine::EventFilter& keep = engine::keep_no_event);

/// The runs of the comparison or sweep that is called "g3", oldest first; empty if the name is no
/// such one, if the history has none of that number, or if a run itself has that number or title.
std::vector<engine::RunSummary> find_group(const std::string& name);

/// Finds a run, or all runs of a comparison or sweep. Empty if there is none, which it has then
/// printed on standard error.
std::vector<engine::RunSummary> find_runs(const std::string& name);

}  // namespace app
