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
    running,  ///< taken by a process that lives
    done,     ///< ended as planned
    failed,   ///< ended by an error, or diverged
};
template <>
inline constexpr std::array enum_names<QueueState> = {"waiting", "running", "done", "failed"};

/// Settings to train, and their name.
struct QueueEntry {
    RunConfig config;
    std::string label;  ///< for people: "optimizer.lr=0.1"
    std::string batch;  ///< the sweep that it belongs to; empty: none
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
};

/// Runs to be trained one after another, in the file queue.db of the store's root. Several
/// processes may share it. If a run's process dies, the run waits again, in its old place. Used by
/// one thread at a time. Every call waits up to two seconds for another process that holds the
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
    /// Throws Error(state) for one that is running. Unknown ids are ignored.
    void remove(std::int64_t id);

    /// A run that this process trains. If it is destroyed without finish(), or the process dies,
    /// the run waits again.
    class Taken {
    public:
        const QueuedRun& queued() const;
        /// The run in the store that trains it.
        void set_run(const std::string& run);
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
    /// Takes the first waiting run, with a batch only from this batch. Nothing if there is none.
    /// The queue must outlive it.
    std::optional<Taken> take(const std::optional<std::string>& batch = {});
    /// The run has to be trained again. Throws Error(state) for one that is running.
    void reset(std::int64_t id);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine
