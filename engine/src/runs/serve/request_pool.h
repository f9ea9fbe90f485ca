#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runs/serve/http_library.h"

namespace engine {

/// Threads that answer requests, and a few more for those that find the queue full: they turn them
/// away. When these are behind as well, no further connection is accepted until they are not.
class RequestPool final : public httplib::TaskQueue {
public:
    RequestPool(std::size_t threads, std::size_t queued);
    /// void in some versions of the library, bool in others: whether it was taken.
    using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));
    Enqueued enqueue(std::function<void()> job) override {
        add(std::move(job));
        return Enqueued(true);
    }
    void shutdown() override;
    /// Whether the job of the calling thread is to be turned away.
    bool turns_away() const;

private:
    void add(std::function<void()> job);
    void work(std::deque<std::function<void()>>& jobs);

    const std::size_t queued_;
    std::mutex mutex_;  ///< guards the next three
    bool ended_ = false;
    std::deque<std::function<void()>> jobs_, refused_;
    std::condition_variable changed_;
    std::vector<std::thread> threads_, refusing_;
};

}  // namespace engine
