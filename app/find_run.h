#pragma once

#include <optional>
#include <string>

#include "engine/run_listing.h"

namespace app {

/// A run by its folder where the name is a path, else by its number or title in the history (the
/// newest of several), or its folder here. Where there is none, says so on standard error.
std::optional<engine::ListedRun> find_run(const std::string& name);

}  // namespace app
