#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "data/loader/collator.h"

namespace engine {

/// Batches in the order of Collator, made ahead of time on a separate thread, which distributes the
/// decoding of pictures to others. Batches of at most 16 KiB without decoding are made in the
/// caller's thread on demand: that costs less than the handover.
///
/// Called by one thread; the data set may be shared with other loaders.
class BatchLoader {
public:
    /// Starts at batch 0 of epoch 0. Throws as Collator does.
    BatchLoader(DataPart part, Schema schema, const LoaderOptions& options);
    /// Waits at most for the batch in progress.
    ~BatchLoader();
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// Moves the next batch into `out`, and reuses its old buffers for later batches. After the
    /// last batch of LoaderOptions::epochs it returns false and leaves `out` unchanged. Rethrows
    /// exceptions of the loader's thread.
    bool next(Batch& out);

    /// The next batch will be this one. Forgets an earlier error.
    void seek(std::int64_t epoch, std::int64_t batch);

    std::int64_t batches_per_epoch() const { return collator_.batches_per_epoch(); }

private:
    /// The batch to be made next. Only the thread that makes batches touches it while one runs.
    struct Cursor {
        std::int64_t epoch = 0;
        std::int64_t batch = 0;
    };

    bool at_end() const { return epochs_ > 0 && cursor_.epoch >= epochs_; }
    void make_next(Batch& out);
    void start();
    void stop();
    void fill_ring();

    const bool decodes_;
    Collator collator_;
    const std::int64_t epochs_;
    const bool threaded_;
    Cursor cursor_;

    std::thread thread_;
    std::mutex mutex_;  // guards all below; a slot that is not ready belongs to the loader's thread
    std::condition_variable made_;
    std::condition_variable taken_;
    std::vector<Batch> ring_;
    std::size_t first_ = 0;  // ring_[first_] is the oldest of the ready batches
    std::size_t ready_ = 0;
    bool stopping_ = false;
    bool ended_ = false;  // the thread makes no more: the end, or error_
    std::exception_ptr error_;
};

}  // namespace engine
