#include "engine/parallel/launch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "parallel/communicator.h"
#include "parallel/joined_launch.h"
#include "parallel/mpirun.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

std::optional<int> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? std::nullopt : to_number<int>(text);
}

/// Environment variables from which a process reads its rank and the number of ranks.
struct LauncherVariables {
    const char *rank, *ranks;
};
// The first that are there count: mpirun may itself use srun. A batch script of Slurm has
// SLURM_PROCID although it is not one of several ranks; only srun sets the variables of a step.
constexpr std::array launchers = {
    LauncherVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    LauncherVariables{"PMI_RANK", "PMI_SIZE"},  // MPICH, Intel MPI
    LauncherVariables{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

/// Whether MPI has a way to find the other ranks. srun gives it only where --mpi, or the cluster's
/// default, says so.
bool can_find_others() {
    return std::ranges::any_of(
        std::array{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMI_FD", "PMIX_RANK"},
        [](const char* variable) { return std::getenv(variable) != nullptr; });
}

/// The launch that this process has joined. Only one, since MPI can be initialised only once.
std::shared_ptr<JoinedLaunch>& joined() {
    static std::shared_ptr<JoinedLaunch> launch;
    return launch;
}

}  // namespace

LaunchedRank launched_rank() {
    for (const auto& launcher : launchers) {
        const auto rank = number_in(launcher.rank), ranks = number_in(launcher.ranks);
        if (rank && ranks && *rank >= 0 && *rank < *ranks) return {*rank, *ranks};
    }
    return {};
}

std::shared_ptr<Communicator> launched_communicator() {
    const int started = launched_rank().ranks;
    if (started == 1) return nullptr;
    if (!can_find_others())
        throw Error(ErrorCode::device,
                    msg("srun started {} processes that cannot find each other.", started),
                    msg("Start the ranks of one run with srun --mpi=pmix (MPICH: --mpi=pmi2), and "
                        "separate runs with srun -n 1 each."));
    if (!joined()) joined() = join_launch();
    const auto line = joined()->first_line();
    if (line->size() == started) return line;
    throw Error(ErrorCode::device,
                msg("{} processes were started together, and this program's MPI finds {} of them.",
                    started, line->size()),
                msg("Use the mpirun that belongs to {}.", mpi_library().name));
}

void check_agreement(Communicator& line, std::string_view version, const RunConfig& config) {
    const int rank = line.rank();
    require_same(line, std::string(version), [&](const std::string& of_rank_0) {
        return msg("Rank {} runs version {} of the program, and rank 0 version {}.", rank, version,
                   of_rank_0);
    });
    require_same(line, to_json(config), [&](const std::string& of_rank_0) {
        const RunConfig first = parse_run_config(of_rank_0).config;
        return msg("Rank {} has other settings than rank 0: {}.", rank,
                   join(differing_fields(first, config)));
    });
}

bool speaks_for_ranks() { return joined() ? joined()->speaks() : launched_rank().rank == 0; }

void give_up_launch(const std::string& sentence) {
    if (joined()) joined()->first_line()->abort(sentence);
}

int leave_launch(int exit_code) { return joined() ? joined()->leave(exit_code) : exit_code; }

LaunchFacts launch_facts() {
    const MpiLibrary library = mpi_library();
    return {.is_built = library.is_built,
            .mpi = library.name,
            .file = library.file,
            .problem = library.problem,
            .mpirun = find_mpirun(library.name)};
}

Message why_no_workers() {
    const MpiLibrary library = mpi_library();
    if (library.name.empty()) return library.problem;
    if (find_mpirun(library.name).empty())
        return msg("Several workers are started by mpirun, which is not in PATH.");
    return {};
}

}  // namespace engine
