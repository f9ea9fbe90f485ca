#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// A job as Slurm sees it.
struct SlurmJob {
    enum class Phase { waiting, running, over };
    Phase phase = Phase::over;
    std::string state = {};  ///< Slurm's word: "TIMEOUT"; empty: Slurm no longer lists it
    std::string reason = {};
};

/// The programs of Slurm. Blocking; a minute at most each. `stop` ends the program that runs.
namespace slurm {

constexpr std::chrono::seconds patience{60};

/// Why a program of Slurm did not do what was asked of it.
struct Failure {
    enum class Kind {
        none,
        refused,  ///< it said why, or nothing
        not_run,  ///< it cannot be started
        late,     ///< it took too long and was ended
        stopped,  ///< it was ended because of the stop token
    };
    Kind kind = Kind::none;
    std::string program = {};  ///< "sbatch"
    std::string words = {};    ///< what it printed: "Invalid account"
};

struct Submission {
    std::string job = {};  ///< "1234" or "1234;cluster"; empty: there is none, or its number is not known
    Failure failure = {};
};
/// Gives a batch script to sbatch. The job's output goes to slurm.out in `folder`, which no other
/// job has. If sbatch takes longer than `limit`, Slurm may have taken the job all the same: squeue
/// is asked for it.
Submission submit(const std::filesystem::path& script, const std::string& name,
                  const std::filesystem::path& folder, const std::stop_token& stop = {},
                  std::chrono::seconds limit = patience);

/// The jobs by their ids, as squeue lists them, and sacct where squeue no longer does. One that is
/// not among them could not be queried; `failure` says why.
std::map<std::string, SlurmJob> ask(const std::vector<std::string>& jobs, Failure& failure,
                                    const std::stop_token& stop = {});

Failure cancel(const std::string& job, const std::stop_token& stop = {});

}  // namespace slurm
}  // namespace engine
