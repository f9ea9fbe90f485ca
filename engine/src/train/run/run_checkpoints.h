#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/record/event.h"
#include "runs/run_hold.h"
#include "train/run/saved_run.h"

namespace engine {

/// Writes checkpoints on a thread of its own, one after another, and removes old ones.
class CheckpointWriter {
public:
    /// Result of writing one checkpoint.
    struct Result {
        std::int64_t step = 0;
        std::int64_t bytes = 0;  ///< written, or that it would have taken
        double seconds = 0;
        bool is_best = false;
        std::optional<Message> failure{};
    };

    /// Nothing is written once `hold` is lost; null: the run has none.
    CheckpointWriter(std::filesystem::path run_folder, std::int64_t keep,
                     std::shared_ptr<RunHold> hold = nullptr);
    /// Writes what was submitted.
    ~CheckpointWriter();
    CheckpointWriter(const CheckpointWriter&) = delete;
    CheckpointWriter& operator=(const CheckpointWriter&) = delete;

    /// Waits while one is being written and another waits already: the disk is slower than the run.
    void submit(SavedRun saved);
    /// Nothing is being written or waits to be.
    bool is_idle() const;
    /// Blocks until it is idle.
    void wait();
    /// Since the last call, oldest first.
    std::vector<Result> take_results();

private:
    void run();
    Result write(const SavedRun& saved) const;

    const std::filesystem::path run_folder_;
    const std::int64_t keep_;
    const std::shared_ptr<RunHold> hold_;
    mutable std::mutex mutex_;  // guards the next four
    std::condition_variable changed_;
    std::deque<SavedRun> waiting_;  // the first is being written
    std::vector<Result> results_;
    bool ending_ = false;
    std::thread thread_;
};

/// When a run saves checkpoints, and which. One thread at a time; the writing is done by another.
class RunCheckpoints {
public:
    /// `step`, `epoch`: where the run begins. If it goes on, its checkpoint of that step is there.
    /// Nothing is written once `hold` is lost; null: the run has none.
    RunCheckpoints(const CheckpointConfig& config, std::filesystem::path run_folder,
                   std::string run, std::int64_t step, std::int64_t epoch,
                   std::shared_ptr<RunHold> hold = nullptr);

    /// Whether the settings require a checkpoint now: at this step, after this many completed
    /// epochs.
    bool is_due(std::int64_t step, std::int64_t epoch) const;
    /// Saves the run as it is now.
    void save(SavedRun saved);
    /// Saves a run whose evaluation was better than all before. Delayed for some seconds after the
    /// last such checkpoint, since many short epochs in a row may each be the best so far.
    void save_best(SavedRun saved);
    /// Whether checkpoints of the best evaluation are wanted.
    bool wants_best() const { return config_.best; }
    /// The run was evaluated at this step. A checkpoint of it that was saved before lacks the
    /// figures, and would have the epoch evaluated once more: it is written again at the end.
    void evaluated(std::int64_t step) { stale_ = stale_ || is_saved(step); }
    /// Whether the run as it is at this step is to be saved at its end.
    bool wants_end(std::int64_t step, std::int64_t epoch) const;
    /// Writes what was held back and waits until all are written.
    void finish();

    /// Events of what was written, or why not, since the last call. Writes what was held back long
    /// enough.
    std::vector<Event> take_events();
    /// Step of the newest checkpoint, if it could not be written; 0: it was. Counts those whose
    /// results were taken.
    std::int64_t unsaved() const { return unsaved_; }
    /// Checkpoints are being written.
    bool is_writing() const { return !writer_.is_idle(); }

private:
    using Clock = std::chrono::steady_clock;

    bool is_saved(std::int64_t step) const { return last_step_ == step; }

    CheckpointConfig config_;
    std::string run_;
    CheckpointWriter writer_;
    std::optional<SavedRun> held_;  // the best one, to be written
    Clock::time_point last_best_{};
    Clock::time_point last_time_;  // of a checkpoint, or the start
    std::int64_t last_step_;       // saved or being written
    bool stale_ = false;           // it was saved before the evaluation at its step
    std::int64_t last_epoch_;
    std::int64_t unsaved_ = 0;
};

}  // namespace engine
