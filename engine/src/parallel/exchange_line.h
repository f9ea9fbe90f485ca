#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/tensor.h"
#include "parallel/communicator.h"

namespace engine {

/// Gradients that are exchanged together, and the factors before and after the sum.
struct ExchangeBucket {
    TensorList gradients{};  ///< dense, of one type
    bool in_f32 = false;     ///< 16-bit gradients are added up as f32
    float before = 1;
    float after = 1;
};

/// Sums buckets over the ranks on a thread of its own, while the caller computes: one bucket after
/// the other, in the order of send(). Only one thread may call it.
class ExchangeLine {
public:
    using Clock = std::chrono::steady_clock;
    struct Span {
        Clock::time_point begin, end;
    };

    explicit ExchangeLine(std::unique_ptr<Communicator> line);
    ~ExchangeLine();
    ExchangeLine(const ExchangeLine&) = delete;
    ExchangeLine& operator=(const ExchangeLine&) = delete;

    /// Replaces the gradients by their sums. Nothing else may touch them until wait().
    void send(ExchangeBucket bucket);
    /// Waits for all buckets; returns when each one since the last call began and ended. Rethrows
    /// the error of the line.
    std::vector<Span> wait();

private:
    void work();
    void exchange(const ExchangeBucket& bucket);

    std::unique_ptr<Communicator> line_;
    std::vector<std::byte> buffer_;  // of the thread
    std::mutex mutex_;               // guards all below
    std::condition_variable changed_;
    std::deque<ExchangeBucket> waiting_;
    std::vector<Span> done_;
    std::size_t open_ = 0;  // buckets sent and not done
    bool stopping_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

}  // namespace engine
