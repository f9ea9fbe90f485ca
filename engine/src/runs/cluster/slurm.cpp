#include "runs/cluster/slurm.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>

#include "base/platform/run_program.h"
#include "engine/base/plain_text.h"

namespace engine::slurm {
namespace {

using Phase = SlurmJob::Phase;

constexpr std::size_t longest_words = 400;

/// "1234;cluster" in its two parts.
struct JobName {
    std::string id, cluster;

    explicit JobName(const std::string& job)
        : id(job.substr(0, job.find(';'))),
          cluster(job.find(';') == std::string::npos ? "" : job.substr(job.find(';') + 1)) {}
};

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (line.find_first_not_of(" \t\r") != std::string::npos) out.push_back(line);
    return out;
}

std::vector<std::string> cells_in(const std::string& line) {
    std::vector<std::string> out;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '|');) out.push_back(cell);
    return out;
}

/// The words that a program of Slurm printed on its failure: "Invalid account".
std::string words_of(const ProgramOutcome& outcome, const std::string& program) {
    std::vector<std::string> lines = lines_in(outcome.errors);
    for (std::string& line : lines) {
        for (const char* kind : {": error: ", ": fatal: "}) {
            const std::string prefix = program + kind;
            if (line.starts_with(prefix)) line.erase(0, prefix.size());
        }
    }
    std::string out = one_line(join(lines, "; "));
    if (out.size() > longest_words) {
        out.resize(longest_words);
        out.resize(out.size() - cut_character(out));
        out += "…";
    }
    return out;
}

Failure read_failure(const ProgramOutcome& outcome, const std::string& program) {
    using enum Failure::Kind;
    if (!outcome.started) return {not_run, program};
    if (outcome.stopped) return {stopped, program};
    if (!outcome.in_time) return {late, program};
    if (outcome.succeeded()) return {};
    const std::string words = words_of(outcome, program);
    return {refused, program, words.empty() ? program + " failed" : words};
}

void name_cluster(std::vector<std::string>& command, const std::string& cluster) {
    if (!cluster.empty()) command.push_back("--clusters=" + cluster);
}

Phase phase_of(const std::string& state) {
    constexpr std::array over = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",
                                 "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
                                 "REVOKED",   "TIMEOUT",   "LAUNCH_FAILED", "RECONFIG_FAIL"};
    constexpr std::array running = {"RUNNING", "COMPLETING", "SUSPENDED", "SIGNALING", "STAGE_OUT"};
    if (std::ranges::find(over, state) != over.end()) return Phase::over;
    return std::ranges::find(running, state) != running.end() ? Phase::running : Phase::waiting;
}

/// "CANCELLED by 1000" and "RUNNING+" without what follows the word.
std::string first_word(const std::string& text) { return text.substr(0, text.find_first_of(" +")); }

using Jobs = std::map<std::string, SlurmJob>;  // by id, without a cluster

/// Nothing if Slurm does not answer.
std::optional<Jobs> ask_squeue(const std::vector<std::string>& ids, const std::string& cluster,
                               Failure& failure, const std::stop_token& stop) {
    std::vector<std::string> command = {"squeue", "--noheader", "--states=all", "--format=%i|%T|%r",
                                        "--jobs=" + join(ids, ",")};
    name_cluster(command, cluster);
    const ProgramOutcome outcome = run_program(command, patience, stop);
    // The answer for a single job that it no longer lists.
    const bool unlisted = outcome.errors.find("Invalid job id") != std::string::npos;
    if (!outcome.succeeded() && !unlisted) {
        failure = read_failure(outcome, "squeue");
        return std::nullopt;
    }
    Jobs out;
    for (const std::string& line : lines_in(outcome.output)) {
        const auto cells = cells_in(line);  // with a cluster, a line names that alone
        if (cells.size() < 2) continue;
        const std::string reason = cells.size() > 2 && cells[2] != "None" ? cells[2] : "";
        out[cells[0]] = {phase_of(cells[1]), cells[1], reason};
    }
    return out;
}

/// Many clusters keep no accounts: then nothing is found.
Jobs ask_sacct(const std::vector<std::string>& ids, const std::string& cluster,
               const std::stop_token& stop) {
    std::vector<std::string> command = {
        "sacct",       "--noheader",           "--allocations",
        "--parsable2", "--format=JobID,State", "--jobs=" + join(ids, ",")};
    name_cluster(command, cluster);
    Jobs out;
    for (const std::string& line : lines_in(run_program(command, patience, stop).output)) {
        const auto cells = cells_in(line);
        if (cells.size() < 2) continue;
        const std::string state = first_word(cells[1]);
        out[cells[0]] = {phase_of(state), state, {}};
    }
    return out;
}

Jobs ask_cluster(const std::vector<std::string>& ids, const std::string& cluster,
                 Failure& failure, const std::stop_token& stop) {
    auto found = ask_squeue(ids, cluster, failure, stop);
    if (!found) return {};
    std::vector<std::string> unlisted;
    std::ranges::copy_if(ids, std::back_inserter(unlisted),
                         [&](const std::string& id) { return !found->contains(id); });
    if (unlisted.empty()) return *found;
    found->merge(ask_sacct(unlisted, cluster, stop));
    if (stop.stop_requested()) return *found;  // what sacct has not said counts for nothing
    for (const std::string& id : unlisted) found->try_emplace(id);
    return *found;
}

/// The job with this name and working folder; empty if Slurm lists none.
std::string find_job(const std::string& name, const std::filesystem::path& folder,
                     const std::stop_token& stop) {
    const ProgramOutcome outcome =
        run_program({"squeue", "--noheader", "--name=" + name, "--format=%i|%Z"}, patience, stop);
    for (const std::string& line : lines_in(outcome.output)) {
        const std::size_t bar = line.find('|');
        if (bar != std::string::npos && line.substr(bar + 1) == folder.string())
            return line.substr(0, bar);
    }
    return {};
}

}  // namespace

Submission submit(const std::filesystem::path& script, const std::string& name,
                  const std::filesystem::path& folder, const std::stop_token& stop,
                  std::chrono::seconds limit) {
    // A path of the output may hold a "%", which sbatch would replace: a name in --chdir's folder.
    const ProgramOutcome outcome = run_program(
        {"sbatch", "--parsable", "--job-name=" + name, "--chdir=" + folder.string(),
         "--output=slurm.out", "--error=slurm.out", "--open-mode=append", script.string()},
        limit, stop);
    if (!outcome.in_time && !outcome.stopped) {
        if (std::string job = find_job(name, folder, stop); !job.empty())
            return {.job = std::move(job)};
    }
    if (!outcome.succeeded()) return {.failure = read_failure(outcome, "sbatch")};
    const auto lines = lines_in(outcome.output);
    const std::string job = lines.empty() ? "" : lines.back();
    if (!to_number<std::int64_t>(JobName(job).id))
        return {.failure = {Failure::Kind::refused, "sbatch"}};
    return {.job = job};
}

std::map<std::string, SlurmJob> ask(const std::vector<std::string>& jobs, Failure& failure,
                                    const std::stop_token& stop) {
    std::map<std::string, std::vector<std::string>> clusters;
    for (const std::string& job : jobs) clusters[JobName(job).cluster].push_back(JobName(job).id);
    std::map<std::string, SlurmJob> out;
    for (const auto& [cluster, ids] : clusters) {
        for (auto& [id, job] : ask_cluster(ids, cluster, failure, stop))
            out[cluster.empty() ? id : id + ';' + cluster] = std::move(job);
    }
    return out;
}

Failure cancel(const std::string& job, const std::stop_token& stop) {
    const JobName parts(job);
    std::vector<std::string> command = {"scancel"};
    name_cluster(command, parts.cluster);
    command.push_back(parts.id);
    return read_failure(run_program(command, patience, stop), "scancel");
}

}  // namespace engine::slurm
