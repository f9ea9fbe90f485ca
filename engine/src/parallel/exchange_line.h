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

/// Gradients that travel together, and what they are multiplied by before and after.
struct ExchangeBucket {
    TensorList gradients{};  ///< dense, of one type
    bool in_f32 = false;     ///< 16-bit gradients are added up as f32
    float before = 1;
    float after = 1;
};

/// Sums over the ranks on a thread of its own, while the caller computes: buckets go over its line
/// one after the other in the order of send(). One thread calls.
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

    /// The sums take the place of the gradients, which nobody else may touch until wait().
    void send(ExchangeBucket bucket);
    /// When each bucket since the last call was under way. Throws what the line threw.
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
