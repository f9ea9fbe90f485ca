#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// A job as Slurm sees it.
struct SlurmJob {
    enum class Phase { waiting, running, over };
    Phase phase = Phase::over;
    std::string state = {};  ///< Slurm's word: "TIMEOUT"; empty: Slurm no longer lists it
    std::string reason = {};
};

/// The programs of Slurm. Blocking; a minute at most each.
namespace slurm {

constexpr std::chrono::seconds patience{60};

struct Submission {
    std::string job = {};    ///< "1234" or "1234;cluster"; empty: refused
    std::string words = {};  ///< why; empty: sbatch named no job
};
/// Gives a batch script to sbatch. The job's output goes to slurm.out in `folder`, which no other
/// job has. If sbatch takes longer than `limit`, Slurm may have taken the job all the same: squeue
/// is asked for it.
Submission submit(const std::filesystem::path& script, const std::string& name,
                  const std::filesystem::path& folder, std::chrono::seconds limit = patience);

/// The jobs by their ids, as squeue lists them, and sacct where squeue no longer does. One that is
/// not among them could not be queried; `words` says why.
std::map<std::string, SlurmJob> ask(const std::vector<std::string>& jobs, std::string& words);

/// Cancels a job. Empty, or why not.
std::string cancel(const std::string& job);

}  // namespace slurm
}  // namespace engine
