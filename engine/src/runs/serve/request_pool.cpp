#include "runs/serve/request_pool.h"

#include <algorithm>
#include <utility>

namespace engine {
namespace {

/// A client that is slow to say what it wants holds one.
constexpr std::size_t refusing_threads = 4;

}  // namespace

RequestPool::RequestPool(std::size_t threads, std::size_t queued) : queued_(queued) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(jobs_); });
    for (std::size_t i = 0; i < refusing_threads; ++i)
        refusing_.emplace_back([this] { work(refused_); });
}

void RequestPool::add(std::function<void()> job) {
    std::unique_lock lock(mutex_);
    if (jobs_.size() < queued_) {
        jobs_.push_back(std::move(job));
    } else {
        changed_.wait(lock, [this] { return refused_.size() < queued_ || ended_; });
        refused_.push_back(std::move(job));
    }
    changed_.notify_all();
}

bool RequestPool::turns_away() const {
    return std::ranges::find(refusing_, std::this_thread::get_id(), &std::thread::get_id) !=
           refusing_.end();
}

/// A job owns its connection, so those that are left at the end are done, too.
void RequestPool::work(std::deque<std::function<void()>>& jobs) {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return !jobs.empty() || ended_; });
        if (jobs.empty()) return;
        const std::function<void()> job = std::move(jobs.front());
        jobs.pop_front();
        changed_.notify_all();
        lock.unlock();
        job();
        lock.lock();
    }
}

void RequestPool::shutdown() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    for (auto* threads : {&threads_, &refusing_})
        for (std::thread& thread : *threads) thread.join();
}

}  // namespace engine
