#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace engine {

/// Threads that share the items of a job. One thread at a time gives jobs.
class WorkerPool {
public:
    /// `threads`: at least 1. The caller works too, so one fewer is started.
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int threads() const { return static_cast<int>(threads_.size()) + 1; }

    /// Calls work(item, worker) for each item below `count`, in any order, and returns when all are
    /// done. `worker` is below threads(); no two calls with the same one run at a time. If items
    /// throw, the exception of the lowest of them is thrown here, and later items may be left out.
    void run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

private:
    void wait_for_jobs(std::size_t worker);
    void take_items(std::size_t worker);
    void note_failure(std::size_t item);

    std::mutex mutex_;  // guards all below but threads_
    std::condition_variable submitted_;
    std::condition_variable finished_;
    const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
    std::size_t count_ = 0;
    std::size_t next_ = 0;
    std::size_t busy_ = 0;  // workers that have not finished the job
    std::uint64_t job_ = 0;
    std::size_t failed_item_ = 0;
    std::exception_ptr failure_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace engine
