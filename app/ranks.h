#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/parallel/launch.h"
#include "engine/session/session.h"
#include "engine/settings/run_config.h"

namespace app {

/// The part of a command that every rank runs. `line` connects the ranks; null in one process.
using RankWork =
    std::function<int(engine::RunConfig config, const std::shared_ptr<engine::Communicator>& line)>;

/// Runs a command whose settings may request several workers, and returns its exit code.
///
/// - If this process is one of several ranks: joins the others, compares the settings with theirs,
///   and runs `work`.
/// - If it is alone and `workers` is above 1: starts the same command as `workers` processes with
///   mpirun.
/// - Otherwise: runs `work` in this process.
///
/// `read` returns the settings, or nothing if they were refused; then it has printed why. Ranks
/// other than 0 write nothing to standard error.
int with_ranks(const std::function<std::optional<engine::RunConfig>()>& read, const RankWork& work);

/// On rank 0: trains in a session and follows it to its end (follow.h). On other ranks: computes
/// their share of that run. Returns the exit code. Rank 0 runs the command `notify` at the end
/// (notify.h).
int train_as_rank(const engine::RunConfig& config, const engine::SessionOptions& options, bool json,
                  const std::string& notify = {});

}  // namespace app
