#include "engine/runs/cluster.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "base/platform/regular_file.h"
#include "base/platform/run_program.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/queue_listing.h"
#include "engine/runs/sweep_run.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "runs/cluster/job_script.h"
#include "runs/cluster/slurm.h"
#include "runs/stored_run.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr char script_name[] = "job.sh";
constexpr char settings_name[] = "settings.json";
constexpr std::size_t longest_output = std::size_t{1} << 16;  ///< bytes that are read
constexpr std::size_t longest_line = 300;

/// The program as nodes find it: an AppImage's own file is on a mount of this machine. Throws
/// Error(state) if an update has removed it.
std::string own_program() {
    const char* image = std::getenv("APPIMAGE");
    std::error_code error;
    const fs::path program = image != nullptr && image[0] == '/'
                                 ? fs::path(image)
                                 : fs::read_symlink("/proc/self/exe", error);
    if (!fs::exists(program, error))
        throw Error(ErrorCode::state, msg("{}: the program is no longer there", program.string()),
                    msg("Start Halftone again."));
    return program.string();
}

/// The folder of a job's run. The history calls the run by its name.
fs::path job_run_folder(const fs::path& job_folder) { return job_folder / job_folder.filename(); }

/// Makes a folder of its own for a job of this run. Throws Error(io).
fs::path make_job_folder(const fs::path& root, std::int64_t id) {
    std::error_code error;
    make_private_folders(root, error);
    if (error) throw_write_error(root, error.value());
    const fs::path wanted = root / ("queue-" + std::to_string(id));
    fs::path folder = wanted;
    for (int n = 2;; ++n) {
        const int failure = make_private_folder(folder);
        if (failure == 0) return folder;
        if (failure != EEXIST) throw_write_error(folder, failure);
        folder = wanted.string() + "-" + std::to_string(n);
    }
}

/// A sweep into a folder of its own has the folder behind its id.
std::string group_of(const QueueEntry& entry) {
    return entry.batch.substr(0, entry.batch.find(' '));
}

/// The command that begins the run, or goes on with it.
std::vector<std::string> command_of(const QueuedRun& queued, const ClusterJob& job,
                                    const std::optional<RunSummary>& earlier) {
    if (earlier) return {"resume", earlier->folder.string()};
    std::vector<std::string> out = {"train", (job.folder / settings_name).string(), "--out",
                                    job_run_folder(job.folder).string()};
    if (const std::string group = group_of(queued.entry); !group.empty()) {
        out.emplace_back("--group");
        out.push_back(group);
    }
    return out;
}

/// Notes in a job why a program of Slurm failed. One that printed nothing leaves `otherwise` without
/// words.
void note_failure(ClusterJob& job, const slurm::Failure& failure, JobNote otherwise) {
    using Kind = slurm::Failure::Kind;
    job.note = failure.kind == Kind::not_run   ? JobNote::not_run
               : failure.kind == Kind::late    ? JobNote::late
               : failure.kind == Kind::stopped ? JobNote::abandoned
                                               : otherwise;
    job.words = job.note == otherwise ? failure.words : failure.program;
}

Message why_not_cancelled(const std::string& job, const slurm::Failure& failure) {
    using Kind = slurm::Failure::Kind;
    if (failure.kind == Kind::not_run) return msg("{} cannot be run.", failure.program);
    if (failure.kind == Kind::late) return msg("{} has not answered in a minute.", failure.program);
    if (failure.kind == Kind::stopped) return msg("{} was ended before it answered.", failure.program);
    return msg("Slurm did not cancel job {}: {}", job, failure.words);
}

/// Writes the job's files and submits it. Throws Error(io) and Error(settings).
ClusterJob submit_job(const QueuedRun& queued, const std::optional<RunSummary>& earlier,
                      const ClusterSettings& settings, const std::string& program,
                      const std::stop_token& closing) {
    ClusterJob job{.folder = make_job_folder(settings.folder, queued.id)};
    const std::string name = "halftone-" + std::to_string(queued.id);
    const fs::path run_folder = earlier ? earlier->folder : job_run_folder(job.folder);
    write_file(job.folder / settings_name, to_json(queued.entry.config));
    write_file(
        job.folder / script_name,
        fill_job_script(settings.script, {name, program, command_of(queued, job, earlier),
                                          job.folder.string(), run_folder.string()}));
    const slurm::Submission submission =
        slurm::submit(job.folder / script_name, name, job.folder, closing);
    job.id = submission.job;
    if (job.id.empty()) note_failure(job, submission.failure, JobNote::refused);
    return job;
}

/// The last error that the program has printed in a job, else the last line; empty if there is
/// none.
std::string last_words(const QueuedRun& queued) {
    std::istringstream lines(read_end_of_file(job_output(queued), longest_output).value_or(""));
    std::string last, error;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("halftone: ")) error = line;
        if (!line.empty()) last = line;
    }
    std::string out = one_line(error.empty() ? last : error);
    if (out.size() > longest_line) {
        out.resize(longest_line);
        out.resize(out.size() - cut_character(out));
        out += "…";
    }
    return out;
}

/// The run that a job trains, as its folder has it; nothing until it has begun.
std::optional<RunSummary> run_in_folder(const QueuedRun& queued, RunStore& store) {
    fs::path folder = job_run_folder(queued.job.folder);
    if (!queued.run.empty()) {
        const auto known = store.find(queued.run);
        if (!known) return std::nullopt;
        folder = known->folder;
    }
    // Listing the folder above makes a network file system look for what is new there.
    std::error_code error;
    for (fs::directory_iterator at(queued.job.folder, error), end; !error && at != end;
         at.increment(error)) {
    }
    if (!has_settings(folder)) return std::nullopt;
    RunSummary run = read_stored_run(folder, keep_no_event).summary;
    if (run.run.empty()) return std::nullopt;  // it is being made
    const RunSummary entered = store.enter(folder);
    run.run = entered.run;
    store.look_at_holder(run);
    return run;
}

/// Brings one live job up to date by its run. False: Slurm has to be asked.
bool settle_by_run(QueuedRun& queued, const std::optional<RunSummary>& run) {
    if (!run) return false;
    queued.run = run->run;
    if (run->state == running_state) {
        queued.state = QueueState::running;
        if (queued.job.note != JobNote::cancelled) {
            queued.job.note = JobNote::none;
            queued.job.words.clear();
        }
        return true;
    }
    const auto ended = ended_state(*run);
    if (!ended) return false;  // stopped, by this job or by the one before it
    queued.state = *ended;
    queued.job.note = JobNote::none;
    queued.job.words.clear();
    return true;
}

/// Brings one live job up to date by what Slurm says, where its run says nothing.
void settle_by_slurm(QueuedRun& queued, const SlurmJob& job) {
    const bool was_cancelled = queued.job.note == JobNote::cancelled;
    if (job.phase != SlurmJob::Phase::over) {
        const bool runs = job.phase == SlurmJob::Phase::running;
        queued.state = runs ? QueueState::running : QueueState::submitted;
        if (was_cancelled) return;
        queued.job.note = runs ? JobNote::none : JobNote::waits;
        queued.job.words = runs ? "" : job.reason.empty() ? job.state : job.reason;
        return;
    }
    if (was_cancelled || job.state == "CANCELLED") {
        queued.state = QueueState::stopped;
        queued.job.note = JobNote::cancelled;
        queued.job.words.clear();
        return;
    }
    queued.job.words = job.state.empty() ? "?" : job.state;
    queued.job.note = queued.run.empty() ? JobNote::no_run : JobNote::cut_off;
    queued.state = queued.run.empty() ? QueueState::failed : QueueState::stopped;
    if (queued.run.empty()) {
        if (const std::string line = last_words(queued); !line.empty())
            queued.job.words += ": " + line;
    }
}

std::vector<QueuedRun> live_jobs(const RunQueue& queue) {
    std::vector<QueuedRun> out;
    std::ranges::copy_if(queue.list(), std::back_inserter(out), &QueuedRun::has_live_job);
    return out;
}

bool is_same(const QueuedRun& a, const QueuedRun& b) {
    return a.state == b.state && a.run == b.run && a.job == b.job;
}

}  // namespace

Message why_no_slurm() {
    if (is_program("sbatch")) return {};
    return msg("This machine has no sbatch, so it cannot give jobs to Slurm.");
}

std::vector<JobChange> submit_jobs(RunStore& store, const std::optional<std::string>& batch,
                                   const std::stop_token& stop, const std::stop_token& closing) {
    RunQueue queue(store.root());
    const auto waits = [](const QueuedRun& run) {
        return run.state == QueueState::waiting && run.entry.where == QueuePlace::slurm &&
               run.errors.empty();
    };
    if (std::ranges::none_of(queue.list(batch), waits)) return {};
    if (const Message problem = why_no_slurm(); !problem.empty())
        throw Error(ErrorCode::state, problem,
                    msg("Start Halftone on the cluster's login node, or let the runs train here."));
    const ClusterSettings settings = read_cluster_settings();
    const std::string program = own_program();
    std::vector<JobChange> out;
    while (!stop.stop_requested() && !closing.stop_requested()) {
        auto taken = queue.take(batch, QueuePlace::slurm);
        if (!taken) break;
        const auto earlier = earlier_try(taken->queued(), store);
        if (const auto ended = earlier ? ended_state(*earlier) : std::nullopt) {
            taken->finish(*ended);
            out.push_back({taken->queued().id, *ended, earlier->run});
            continue;
        }
        const ClusterJob job = submit_job(taken->queued(), earlier, settings, program, closing);
        taken->set_job(job);
        const QueueState state = job.id.empty() ? QueueState::failed : QueueState::submitted;
        taken->finish(state);
        out.push_back({taken->queued().id, state, taken->queued().run});
    }
    return out;
}

std::vector<JobChange> follow_jobs(RunStore& store, const std::stop_token& closing) {
    RunQueue queue(store.root());
    std::vector<QueuedRun> jobs = live_jobs(queue), before = jobs;
    std::vector<bool> settled;
    std::vector<std::string> asked;
    for (QueuedRun& queued : jobs) {
        settled.push_back(settle_by_run(queued, run_in_folder(queued, store)));
        if (!settled.back()) asked.push_back(queued.job.id);
    }
    slurm::Failure failure;
    const auto answers =
        asked.empty() ? std::map<std::string, SlurmJob>{} : slurm::ask(asked, failure, closing);
    std::vector<JobChange> out;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        QueuedRun& queued = jobs[i];
        const auto answer = answers.find(queued.job.id);
        const bool unknown = !settled[i] && answer == answers.end();
        if (unknown && queued.job.note != JobNote::cancelled && !closing.stop_requested()) {
            note_failure(queued.job, failure, JobNote::silent);
        } else if (!settled[i] && answer != answers.end()) {
            // The job may have ended, and its run with it, since the folder was read.
            const bool over = answer->second.phase == SlurmJob::Phase::over;
            if (!over || !settle_by_run(queued, run_in_folder(queued, store)))
                settle_by_slurm(queued, answer->second);
        }
        if (is_same(queued, before[i])) continue;
        const QueuedRun kept = queue.update_job(queued);
        out.push_back({kept.id, kept.state, kept.run});
    }
    return out;
}

void cancel_job(RunStore& store, std::int64_t id, const std::stop_token& closing) {
    RunQueue queue(store.root());
    auto runs = live_jobs(queue);
    const auto found = std::ranges::find(runs, id, &QueuedRun::id);
    if (found == runs.end())
        throw Error(ErrorCode::state, msg("{}: the cluster has no job for this run", id));
    const slurm::Failure failure = slurm::cancel(found->job.id, closing);
    if (failure.kind != slurm::Failure::Kind::none)
        throw Error(ErrorCode::state, why_not_cancelled(found->job.id, failure));
    found->job.note = JobNote::cancelled;
    found->job.words.clear();
    queue.update_job(*found);
}

}  // namespace engine
