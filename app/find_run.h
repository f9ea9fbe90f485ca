#pragma once

#include <optional>
#include <string>

#include "engine/run_listing.h"

namespace app {

/// Finds a run: by its folder if the name is a path, else by its number or title in the history
/// (the newest of several), or its folder in the current directory. If there is none, prints that
/// on standard error. Its events are those that `keep` wants, by default none.
std::optional<engine::ListedRun> find_run(const std::string& name,
                                          const engine::EventFilter& keep = engine::keep_no_event);

}  // namespace app
