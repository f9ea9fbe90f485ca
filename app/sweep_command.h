#pragma once

#include <optional>
#include <string>

namespace app {

/// Continues the sweep whose runs have this RunSummary::group, as the command that began it would.
/// `notify`: a command for its end (notify.h). Returns its exit code; nothing if the queue does not
/// have it, since it was imported, say.
std::optional<int> continue_sweep(const std::string& group, bool accept_data, bool json,
                                  const std::string& notify);

}  // namespace app
