#include "data/worker_pool.h"

namespace engine {

WorkerPool::WorkerPool(int threads) {
    for (int i = 1; i < threads; ++i)
        threads_.emplace_back([this, i] { wait_for_jobs(static_cast<std::size_t>(i)); });
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    submitted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
        count_ = count;
        next_ = 0;
        busy_ = threads_.size();
        failure_ = nullptr;
        ++job_;
    }
    submitted_.notify_all();
    take_items(0);
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
}

void WorkerPool::wait_for_jobs(std::size_t worker) {
    std::uint64_t done = 0;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            submitted_.wait(lock, [&] { return job_ != done || stopping_; });
            if (stopping_) return;
            done = job_;
        }
        take_items(worker);
        {
            const std::lock_guard lock(mutex_);
            --busy_;
        }
        finished_.notify_one();
    }
}

void WorkerPool::take_items(std::size_t worker) {
    while (true) {
        std::size_t item = 0;
        {
            const std::lock_guard lock(mutex_);
            if (next_ >= count_) return;
            item = next_++;
        }
        try {
            (*work_)(item, worker);
        } catch (...) {
            note_failure(item);
        }
    }
}

/// Items are taken in order, so every item below a failed one was taken: the lowest failure does
/// not depend on the number of threads.
void WorkerPool::note_failure(std::size_t item) {
    const std::lock_guard lock(mutex_);
    next_ = count_;
    if (failure_ && failed_item_ < item) return;
    failed_item_ = item;
    failure_ = std::current_exception();
}

}  // namespace engine
