#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/runs/run_store.h"
#include "runs/run_hold.h"
#include "train/run/epoch_rules.h"

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
class RunCheckpoints final : public RunListener {
public:
    /// `place`: the run's once it is saved; must outlive this. `metrics`: the task's.
    RunCheckpoints(const CheckpointConfig& config, const RunStore::NewRun& place,
                   const std::vector<Metric>& metrics, PostEvent post);

    RunRequest before_step(std::int64_t step, std::int64_t epoch) override {
        return {.save = is_due(step, epoch)};
    }
    /// Asks for a checkpoint of the best evaluation. A checkpoint of this step that was saved
    /// before lacks the figures, and would have the epoch evaluated once more: it is written again
    /// at the end.
    RunRequest on_evaluation(const Evaluated& evaluated) override;
    /// A run whose evaluation was better than all before (SavedRun::is_best) is held back for some
    /// seconds after the last such checkpoint, since many short epochs in a row may each be the
    /// best so far.
    void on_checkpoint(const SavedRun& saved) override;
    RunRequest on_end(std::int64_t step, std::int64_t epoch) override;
    /// Reports what was written, or why not, and writes what was held back long enough.
    bool poll() override;
    /// Writes what was held back and waits until all are written.
    void complete(RunDone& done) override;
    void save_state(SavedRun& saved) const override;
    /// The run goes on from this checkpoint, which is there.
    RunRequest load_state(const SavedRun& saved) override;

private:
    using Clock = std::chrono::steady_clock;

    bool is_due(std::int64_t step, std::int64_t epoch) const;
    bool is_saved(std::int64_t step) const { return last_step_ == step; }
    bool is_idle() const { return !writer_ || writer_->is_idle(); }
    void write(SavedRun saved);
    void write_held() {
        if (held_) write(std::move(*std::exchange(held_, std::nullopt)));
    }

    CheckpointConfig config_;
    const RunStore::NewRun& place_;
    BestMetric best_;
    PostEvent post_;
    std::optional<CheckpointWriter> writer_;  // from the first checkpoint on
    std::optional<SavedRun> held_;            // the best one, to be written
    Clock::time_point last_best_{};
    Clock::time_point last_time_ = Clock::now();  // of a checkpoint, or the start
    std::int64_t last_step_ = 0;                  // saved or being written
    bool stale_ = false;                          // it was saved before the evaluation at its step
    std::int64_t last_epoch_ = 0;
    std::int64_t unsaved_ = 0;  // step of the newest one, if it could not be written
};

}  // namespace engine
