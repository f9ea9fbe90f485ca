#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run_config.h"

/// Data-parallel runs as processes: what a launcher (mpirun, srun) has started together, and how a
/// command starts them itself.
namespace engine {

class Communicator;

/// This process among those that were started together.
struct LaunchedRank {
    int rank = 0;
    int ranks = 1;  ///< 1: this process was started alone
};
/// From the launcher's environment variables alone; nothing is initialised.
LaunchedRank launched_rank();

/// The line of this process to the others that were started with it; null where it was started
/// alone. The first call joins the launch and limits this process to its share of the machine's
/// processors. Throws Error(device) where that fails, or where this build has no MPI.
std::shared_ptr<Communicator> launched_communicator();

/// All ranks compare program version and settings. Throws Error(training) on all of them if one
/// differs from rank 0, with a sentence that names it.
void check_agreement(Communicator& line, std::string_view version, const RunConfig& config);

/// Whether this rank is to write why the ranks end: rank 0, or the next one where rank 0 is lost.
/// True once in a launch of several ranks, so that they say it once.
bool speaks_for_ranks();

/// This rank cannot go on: all ranks end, with this sentence. Returns at once.
void give_up_launch(const std::string& sentence);

/// Ends this process's part in the launch, once its work is done, and returns its exit code. After
/// a failure of any rank it does not return: the launcher ends all ranks, with `exit_code` or, if
/// that is 0, with 5.
int leave_launch(int exit_code);

/// What `halftone doctor` says about launching.
struct LaunchFacts {
    std::string mpi;     ///< "Open MPI v4.1.4"; empty: built without MPI
    std::string mpirun;  ///< path; empty: there is none in PATH
};
LaunchFacts launch_facts();

/// Why a run with several workers cannot be started here; an empty message if it can.
Message why_no_workers();

/// Runs `command`, a program and its arguments, as so many processes through mpirun, and waits for
/// their end. Ctrl-C, SIGTERM and SIGHUP (unless it is ignored) reach rank 0 as SIGUSR1, its
/// request to stop; a second one ends all ranks. Returns the ranks' exit code, or 5 where a signal
/// ended one of them. Throws Error(device) where there is no MPI or no mpirun.
int run_workers(std::int64_t workers, const std::vector<std::string>& command);

}  // namespace engine
