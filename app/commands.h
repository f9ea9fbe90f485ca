#pragma once

#include <optional>
#include <string>

#include "command_line.h"
#include "engine/runs/run_store.h"
#include "engine/train/session_options.h"

namespace app {

#define HALFTONE_COMMAND(name, summary) void describe_##name(Command command);
#include "commands.inc"
#undef HALFTONE_COMMAND

/// Continues the sweep whose runs have this RunSummary::group, as the command that began it would.
/// `notify`: a command for its end (notify.h). Of a sweep that the queue has lost, the runs that
/// were begun. Returns its exit code; nothing if none of them can go on.
std::optional<int> continue_sweep(const std::string& group, bool accept_data, bool json,
                                  const std::string& notify);

/// Options with which a session continues an earlier try, or begins anew where there is none or it
/// cannot go on; notes go to standard error.
engine::SessionOptions options_to_go_on(const std::optional<engine::RunSummary>& earlier);

}  // namespace app
