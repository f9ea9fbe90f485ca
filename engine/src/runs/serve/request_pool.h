#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runs/serve/http_library.h"

namespace engine {

/// Threads that answer requests, and a few more for those that find the queue full: they turn them
/// away. When these are behind as well, no further connection is accepted until they are not.
class RequestPool final : public httplib::TaskQueue {
public:
    RequestPool(std::size_t threads, std::size_t queued);
    void enqueue(std::function<void()> job) override;
    void shutdown() override;
    /// Whether the job of the calling thread is to be turned away.
    bool turns_away() const;

private:
    void work(std::deque<std::function<void()>>& jobs);

    const std::size_t queued_;
    std::mutex mutex_;  ///< guards the next three
    bool ended_ = false;
    std::deque<std::function<void()>> jobs_, refused_;
    std::condition_variable changed_;
    std::vector<std::thread> threads_, refusing_;
};

}  // namespace engine
