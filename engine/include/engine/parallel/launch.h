#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/settings/run_config.h"

/// The processes of a data-parallel run: those that a launcher (mpirun, srun) started together, and
/// how a command starts them itself.
namespace engine {

class Communicator;

/// This process among those that were started together.
struct LaunchedRank {
    int rank = 0;
    int ranks = 1;  ///< 1: this process was started alone
};
/// Reads only the launcher's environment variables; initialises nothing.
LaunchedRank launched_rank();

/// The line of this process to the others that were started with it; null if it was started alone.
/// The first call joins the launch and limits this process to its share of the machine's
/// processors. Throws Error(device) if that fails, or if this build has no MPI.
std::shared_ptr<Communicator> launched_communicator();

/// Compares program version and settings of all ranks. If a rank differs from rank 0, throws
/// Error(training) on all of them, with a sentence that names the rank.
void check_agreement(Communicator& line, std::string_view version, const RunConfig& config);

/// Whether this rank is to write why the ranks end: rank 0, or the next one where rank 0 is lost.
/// True once in a launch of several ranks, so that they say it once.
bool speaks_for_ranks();

/// Says that this rank cannot continue: all ranks end, with this sentence. Returns at once.
void give_up_launch(const std::string& sentence);

/// Leaves the launch when the work of this process is done, and returns its exit code. If any rank
/// has failed it does not return: the launcher ends all ranks, with `exit_code`, or with 5 if that
/// is 0.
int leave_launch(int exit_code);

/// Facts about launching that `halftone doctor` prints.
struct LaunchFacts {
    bool is_built = true;  ///< whether the program was built with MPI
    std::string mpi;       ///< "Open MPI v4.1.4"; empty: there is no library
    std::string file;      ///< of a library that is opened while the program runs
    Message problem;       ///< why there is no library
    std::string mpirun;    ///< path; empty: there is none in PATH
};
LaunchFacts launch_facts();

/// Why a run with several workers cannot be started here; an empty message if it can.
Message why_no_workers();

/// Runs `command`, a program and its arguments, as `workers` processes through mpirun, and waits
/// for their end.
///
/// - Ctrl-C, SIGTERM and SIGHUP (unless ignored) are sent to rank 0 as SIGUSR1, its request to
/// stop.
///   A second one ends all ranks.
/// - Returns the ranks' exit code, or 5 if a signal ended one of them.
/// - Throws Error(device) without MPI or mpirun.
int run_workers(std::int64_t workers, const std::vector<std::string>& command);

/// On rank 0 of run_workers(): from here on standard output and error are those of the program that
/// called it, so that nothing passes through mpirun. To be called before anything is written.
/// Changes nothing on other ranks, under a launcher of the user's own, and where it fails.
void take_handed_output();

}  // namespace engine
