#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/names.h"
#include "engine/settings/run_config.h"

namespace engine {

enum class QueueState {
    waiting,
    running,    ///< taken by a process that lives, or trained by a job
    done,       ///< ended as planned
    failed,     ///< ended by an error, or diverged
    submitted,  ///< a job of the cluster, which has not begun the run yet
    stopped,    ///< a job that ended before its run did; the run can go on
};
template <>
inline constexpr std::array enum_names<QueueState> = {"waiting", "running",   "done",
                                                      "failed",  "submitted", "stopped"};

/// Who trains a run.
enum class QueuePlace {
    here,   ///< the program that takes it out of the queue
    slurm,  ///< a job of a cluster (engine/runs/cluster.h)
};
template <>
inline constexpr std::array enum_names<QueuePlace> = {"here", "slurm"};

/// Settings to train, and their name.
struct QueueEntry {
    RunConfig config;
    std::string label;  ///< for people: "optimizer.lr=0.1"
    std::string batch;  ///< the sweep that it belongs to; empty: none
    QueuePlace where = QueuePlace::here;
};

/// Why a job is where it is; job_sentence() has the words
/// (engine/runs/queue_listing.h).
enum class JobNote {
    none,
    waits,      ///< in the cluster's queue
    refused,    ///< the cluster did not take it
    silent,     ///< the cluster does not answer
    not_run,    ///< the cluster's program cannot be started
    late,       ///< the cluster's program has not answered in time
    abandoned,  ///< it was being submitted when the program was closed
    no_run,     ///< it ended before its run began
    cut_off,    ///< it ended before its run did
    cancelled,  ///< by the queue's user
};
template <>
inline constexpr std::array enum_names<JobNote> = {
    "none", "waits", "refused", "silent", "not_run", "late", "abandoned", "no_run", "cut_off",
    "cancelled"};

/// The job of a run on a cluster.
struct ClusterJob {
    std::string id = {};  ///< "1234", or "1234;cluster" of another cluster; empty: not submitted
    /// Its settings, script and output, and in it the folder of the run, which has the same name.
    /// Empty: none yet.
    std::filesystem::path folder = {};
    JobNote note = JobNote::none;
    std::string words = {};  ///< of the cluster, on the note, or the name of the cluster's program
    bool operator==(const ClusterJob&) const = default;
};

/// A run of the queue.
struct QueuedRun {
    std::int64_t id = 0;  ///< never given twice
    QueueEntry entry;
    QueueState state = QueueState::waiting;
    /// Its id in the store, once started; for one that waits again, the id of the former attempt.
    std::string run;
    /// Errors of settings that another version of this program wrote and this one rejects: such a
    /// run is never taken.
    std::vector<SettingError> errors{};
    ClusterJob job{};

    /// Whether a cluster has a job for it that has not ended.
    bool has_live_job() const {
        return !job.id.empty() &&
               (state == QueueState::submitted || state == QueueState::running);
    }
};

/// Runs to be trained one after another or by a cluster, in the file queue.db of the store's root.
/// Several processes may share it. If a run's process dies, the run waits again, in its old place.
/// A job of a cluster outlives all processes that use the queue. Used by one thread at a time. Every call waits up to two seconds for another process that holds the
/// file, then throws Error(io), as it does for an unusable file.
class RunQueue {
    struct Lease;

public:
    /// Makes the file if it is absent.
    explicit RunQueue(const std::filesystem::path& root);
    ~RunQueue();
    RunQueue(const RunQueue&) = delete;
    RunQueue& operator=(const RunQueue&) = delete;

    /// Appends the entries in this order; all or none. Skips a run that its batch already has, so
    /// that two processes may add one sweep. Returns the ids of the added runs.
    std::vector<std::int64_t> add(const std::vector<QueueEntry>& entries);
    /// The runs in the order in which they are taken. With a batch only its runs ("": those without
    /// a batch).
    std::vector<QueuedRun> list(const std::optional<std::string>& batch = {}) const;
    /// Puts a run before another one; 0: at the end. Throws Error(value) for an unknown run.
    void move(std::int64_t id, std::int64_t before);
    /// Throws Error(state) for one that is running, or has a live job. Unknown ids are ignored.
    void remove(std::int64_t id);
    /// Throws Error(state) as remove() does.
    void set_where(std::int64_t id, QueuePlace where);
    /// Writes state, run and job of a job as `run` has them, unless the queue has another job for
    /// that run by now, or has read its final state. A job that another process has cancelled since
    /// stays cancelled, unless its run has ended. Returns the run as the queue has it then.
    QueuedRun update_job(QueuedRun run);

    /// A run that this process trains. If it is destroyed without finish(), or the process dies,
    /// the run waits again.
    class Taken {
    public:
        const QueuedRun& queued() const;
        /// The run in the store that trains it.
        void set_run(const std::string& run);
        /// Kept by finish(). With QueueState::submitted the job trains the run.
        void set_job(const ClusterJob& job);
        void finish(QueueState state);

    private:
        friend class RunQueue;
        explicit Taken(std::unique_ptr<Lease> lease);
        std::unique_ptr<Lease> lease_;

    public:
        Taken(Taken&&) noexcept;
        Taken& operator=(Taken&&) noexcept;
        ~Taken();
    };
    /// Takes the first run that waits for this place, with a batch only from this batch. Nothing if
    /// there is none. The queue must outlive it.
    std::optional<Taken> take(const std::optional<std::string>& batch = {},
                              QueuePlace where = QueuePlace::here);
    /// The run has to be trained again; one whose job was stopped goes on. Throws Error(state) as
    /// remove() does.
    void reset(std::int64_t id);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine
