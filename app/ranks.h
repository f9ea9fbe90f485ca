#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/launch.h"
#include "engine/run_config.h"
#include "engine/session.h"

namespace app {

/// The part of a command that every rank runs: `line` joins the ranks and is null in one process.
using RankWork =
    std::function<int(engine::RunConfig config, const std::shared_ptr<engine::Communicator>& line)>;

/// Runs a command whose settings may ask for several workers, and returns its exit code:
/// - one of several ranks: joins the others, compares settings with theirs, and runs `work`;
/// - alone, with `workers` above 1: starts this very command as so many processes by mpirun;
/// - else: runs `work` in this process.
/// `read` reads the settings; nothing: they were refused, and it has said why. Ranks other than 0
/// write nothing on standard error.
int with_ranks(const std::function<std::optional<engine::RunConfig>()>& read, const RankWork& work);

/// Trains on rank 0, whose session is followed to its end (follow.h), and does this rank's share of
/// that elsewhere. Returns the exit code.
int train_as_rank(const engine::RunConfig& config, const engine::SessionOptions& options,
                  bool json);

}  // namespace app
