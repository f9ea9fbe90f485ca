#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/runs/run_queue.h"
#include "engine/runs/run_store.h"

// Runs of the queue on a cluster with Slurm. Each is a job: a batch script, made of the user's
// template and given to sbatch. While the job waits, Slurm is asked for its state. The run's folder
// gives its state once it exists. Programs of Slurm are children of this process, and no shell
// reads their arguments.
namespace engine {

/// Where jobs lie, and what they run. Two files of the user, in the folder that has the presets.
struct ClusterSettings {
    std::filesystem::path
        folder;          ///< on a file system that the nodes share; each job has one in it
    std::string script;  ///< template of the batch script
};

/// A word in two braces that the template may have, and what takes its place.
struct ScriptPlaceholder {
    const char* name;
    Message meaning;
};
std::vector<ScriptPlaceholder> script_placeholders();
/// The template as long as the user has none.
std::string default_job_script();
/// Where the user's template lies, whether there is one or not.
std::filesystem::path job_script_file();
/// Empty for a folder and a template that can be used.
Message cluster_settings_problem(const ClusterSettings& settings);

/// The defaults where there are no files. Throws Error(settings) for one that is damaged, cannot
/// be read or is too long.
ClusterSettings read_cluster_settings();
/// Throws Error(settings) for a folder or a template that cannot be used, and Error(io).
void write_cluster_settings(const ClusterSettings& settings);

/// Empty where jobs can be submitted from this machine; else why not.
Message why_no_slurm();

/// A run of the queue whose state has changed.
struct JobChange {
    std::int64_t id = 0;
    QueueState state = QueueState::submitted;
    std::string run;  ///< in the history; empty: none yet
};

/// Submits all runs of the queue that wait for Slurm, or those of one batch, as one job each. One
/// that Slurm refuses has failed, and its note has Slurm's words. Blocks for as long as sbatch
/// takes; once `stop` is requested, for the job at hand alone, and the other runs go on waiting.
/// Throws Error(state) on a machine without sbatch; the runs go on waiting then. `closing` ends
/// sbatch: the run at hand has failed then, with a note that Slurm may have its job.
std::vector<JobChange> submit_jobs(RunStore& store, const std::optional<std::string>& batch = {},
                                   const std::stop_token& stop = {},
                                   const std::stop_token& closing = {});
/// Looks after all live jobs of the queue, and enters runs that have begun into the history. Blocks
/// for as long as the folders and Slurm take to answer; once `closing` is requested, not for Slurm.
std::vector<JobChange> follow_jobs(RunStore& store, const std::stop_token& closing = {});
/// Cancels the job of a run. A run that has begun saves a checkpoint first, if Slurm leaves it the
/// time. Throws Error(state) if there is no live job, or with Slurm's words. `closing` ends scancel.
void cancel_job(RunStore& store, std::int64_t id, const std::stop_token& closing = {});

}  // namespace engine
