#pragma once

#include <string>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// The settings as arguments of --set, "optimizer.lr=0.01": only what differs from the defaults (of
/// an option, from that of its kind). On top of `{}` they give the same settings.
std::vector<std::string> to_overrides(const RunConfig& config);

/// `halftone train --set optimizer.lr=0.01 ...` for a POSIX shell.
std::string to_command_line(const RunConfig& config);

}  // namespace engine
