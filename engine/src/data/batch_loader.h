#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/collator.h"

namespace engine {

/// Batches in the order of Collator, made ahead of time on a thread of its own, which shares the
/// decoding of pictures with others. Batches of at most 16 KiB that decode nothing are made in the
/// caller's thread when asked for: that costs less than handing them over.
///
/// One thread calls; the data set may be shared with other loaders.
class BatchLoader {
public:
    /// Starts at batch 0 of epoch 0. Throws as Collator does.
    BatchLoader(DataPart part, Schema schema, const LoaderOptions& options);
    /// Waits for the batch in the making, at most.
    ~BatchLoader();
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// Moves the next batch into `out` and takes its old buffers for later batches. False, with
    /// `out` as it was, after the last batch of LoaderOptions::epochs. Throws what the loader's
    /// thread threw.
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
