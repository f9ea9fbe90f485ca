#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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

}  // namespace engine
