#include "data/loader/batch_loader.h"

#include <utility>

namespace engine {
namespace {

// Enough to cover a step that takes much longer than the others; more would only hold memory.
constexpr std::size_t batches_ahead = 4;
constexpr std::size_t max_bytes_in_caller = 16384;  // bytes

bool worth_a_thread(const Collator& collator, bool decodes, const LoaderOptions& options) {
    return !options.indices_only && (decodes || !options.sampler.order.empty() ||
                                     collator.batch_bytes() > max_bytes_in_caller);
}

}  // namespace

BatchLoader::BatchLoader(DataPart part, Schema schema, const LoaderOptions& options)
    : decodes_(part.data && part.data->decodes()),
      collator_(std::move(part), std::move(schema), options),
      epochs_(options.epochs),
      threaded_(worth_a_thread(collator_, decodes_, options)),
      ring_(threaded_ ? batches_ahead : 0) {
    start();
}

BatchLoader::~BatchLoader() { stop(); }

bool BatchLoader::next(Batch& out) {
    if (!threaded_) {
        if (at_end()) return false;
        make_next(out);
        return true;
    }
    {
        std::unique_lock lock(mutex_);
        made_.wait(lock, [this] { return ready_ > 0 || ended_; });
        if (ready_ == 0) {
            if (error_) std::rethrow_exception(error_);
            return false;
        }
        std::swap(out, ring_[first_]);
        first_ = (first_ + 1) % ring_.size();
        --ready_;
    }
    taken_.notify_one();
    return true;
}

void BatchLoader::seek(std::int64_t epoch, std::int64_t batch) {
    stop();
    cursor_ = {epoch, batch};
    start();
}

void BatchLoader::make_next(Batch& out) {
    collator_.make(out, cursor_.epoch, cursor_.batch);
    if (++cursor_.batch == collator_.batches_per_epoch()) cursor_ = {cursor_.epoch + 1, 0};
}

void BatchLoader::start() {
    if (!threaded_) return;
    first_ = ready_ = 0;
    stopping_ = ended_ = false;
    error_ = nullptr;
    thread_ = std::thread([this] { fill_ring(); });
}

void BatchLoader::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    taken_.notify_one();
    thread_.join();
}

void BatchLoader::fill_ring() {
    std::exception_ptr error;
    try {
        while (!at_end()) {
            std::size_t slot = 0;
            {
                std::unique_lock lock(mutex_);
                taken_.wait(lock, [this] { return ready_ < ring_.size() || stopping_; });
                if (stopping_) return;
                slot = (first_ + ready_) % ring_.size();
            }
            make_next(ring_[slot]);
            {
                const std::lock_guard lock(mutex_);
                ++ready_;
            }
            made_.notify_one();
        }
    } catch (...) {
        error = std::current_exception();
    }
    {
        const std::lock_guard lock(mutex_);
        error_ = error;
        ended_ = true;
    }
    made_.notify_one();
}

}  // namespace engine
