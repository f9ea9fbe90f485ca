#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/runs/run_follower.h"
#include "engine/runs/run_group.h"
#include "engine/session/session.h"

namespace app {

/// A session with the prefix of its lines.
struct Followed {
    std::string label;  ///< "amp-fp16"
    engine::Session* session;
    std::function<void(const std::string& run)> started{};  ///< gets the run's id; may be null
};

/// Follows sessions until all have ended: prints a progress line, or with `json` one object per
/// line on standard output. The sessions stop after the current step on a request to end
/// (InterruptScope), and if standard output is closed.
std::vector<engine::RunOutcome> follow(const std::vector<Followed>& sessions, bool json);

/// Follows one run of any source.
engine::RunOutcome follow(const std::string& label, engine::RunSource& source, bool json);

/// Prints how the runs of a comparison did beside its first one: the verdict on each of the first
/// seed. Nothing for a sweep, or for a run alone. Throws Error(data) for a record that cannot be
/// read.
void print_verdicts(const engine::GroupRuns& runs);

}  // namespace app
