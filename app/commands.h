#pragma once

#include <optional>
#include <string>

#include "command_line.h"

namespace app {

#define HALFTONE_COMMAND(name, summary) void describe_##name(Command command);
#include "commands.inc"
#undef HALFTONE_COMMAND

/// Continues the sweep whose runs have this RunSummary::group, as the command that began it would.
/// `notify`: a command for its end (notify.h). Of a sweep that the queue has lost, the runs that
/// were begun. Returns its exit code; nothing if none of them can go on.
std::optional<int> continue_sweep(const std::string& group, bool accept_data, bool json,
                                  const std::string& notify);

}  // namespace app
