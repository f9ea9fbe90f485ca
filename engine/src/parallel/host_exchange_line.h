#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel/exchange_line.h"

namespace engine {

/// Exchanges gradients in host memory, on a thread of its own: long ones where they lie, the others
/// packed into one buffer.
class HostExchangeLine final : public ExchangeLine {
public:
    explicit HostExchangeLine(std::unique_ptr<Communicator> line);
    ~HostExchangeLine() override;

    void send(ExchangeBucket bucket) override;
    void end_backward() override { ended_ = Clock::now(); }
    ExchangeTimer wait() override;

private:
    using Clock = std::chrono::steady_clock;
    struct Span {
        Clock::time_point begin, end;
    };

    void work();
    void exchange(const ExchangeBucket& bucket);
    void exchange_packed(const ExchangeBucket& bucket);
    void sum(kernels::Array values, const ExchangeBucket& bucket);

    std::unique_ptr<Communicator> line_;
    std::vector<std::byte> buffer_;  // of the thread
    Clock::time_point ended_;        // the backward pass; of the caller
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
