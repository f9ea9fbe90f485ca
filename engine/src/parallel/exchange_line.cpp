#include "parallel/exchange_line.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/parallel.h"

namespace engine {
namespace {

/// From this length on, copying a gradient to the buffer and back costs more than messages of its
/// own.
constexpr std::size_t long_bytes = 256 * 1024;

void multiply(kernels::Array values, float factor) {
    if (factor != 1) kernels::cpu::scale_by(values, values, &factor, {});
}

bool fits_in_place(const Tensor& gradient, const ExchangeBucket& bucket) {
    return gradient.bytes() >= long_bytes && !(bucket.in_f32 && is_low(gradient.dtype()));
}

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

HostExchangeLine::HostExchangeLine(std::unique_ptr<Communicator> line)
    : line_(std::move(line)), thread_([this] { work(); }) {}

/// Aborts a bucket that is being exchanged: after a failed step it would wait for ranks that may
/// have failed too.
HostExchangeLine::~HostExchangeLine() {
    bool under_way = false;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        under_way = open_ > waiting_.size();
        waiting_.clear();
    }
    if (under_way) line_->abort("A rank gave up in the middle of a step.");
    changed_.notify_all();
    thread_.join();
}

void HostExchangeLine::send(ExchangeBucket bucket) {
    {
        const std::lock_guard lock(mutex_);
        if (!error_) {
            waiting_.push_back(std::move(bucket));
            ++open_;
        }
    }
    changed_.notify_all();
}

ExchangeTimer HostExchangeLine::wait() {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0 || error_; });
    if (error_) std::rethrow_exception(error_);
    ExchangeTimes times;
    for (const Span& span : std::exchange(done_, {})) {
        times.total_ms += Milliseconds(span.end - span.begin).count();
        times.hidden_ms +=
            std::max(0.0, Milliseconds(std::min(span.end, ended_) - span.begin).count());
    }
    return [times] { return times; };
}

void HostExchangeLine::work() {
    kernels::cpu::set_threads(1);  // the others compute
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        ExchangeBucket bucket = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        const auto begin = Clock::now();
        std::exception_ptr error;
        try {
            exchange(bucket);
        } catch (...) {
            error = std::current_exception();
        }
        const Span span{begin, Clock::now()};
        lock.lock();
        // Before wait() returns, so that the caller sees the memory as free.
        bucket = {};
        done_.push_back(span);
        --open_;
        if (error) {
            error_ = error;
            waiting_.clear();
        }
        changed_.notify_all();
    }
}

void HostExchangeLine::exchange(const ExchangeBucket& bucket) {
    ExchangeBucket packed{.in_f32 = bucket.in_f32, .before = bucket.before, .after = bucket.after};
    for (const Tensor& gradient : bucket.gradients) {
        if (fits_in_place(gradient, bucket))
            sum(gradient.array(), bucket);
        else
            packed.gradients.push_back(gradient);
    }
    if (!packed.gradients.empty()) exchange_packed(packed);
}

void HostExchangeLine::exchange_packed(const ExchangeBucket& bucket) {
    using kernels::Array;
    const BucketLayout layout(bucket);
    buffer_.resize(layout.bytes());
    layout.each(buffer_.data(),
                [](Array gradient, Array place) { kernels::cpu::cast(place, gradient, {}); });
    sum(layout.all(buffer_.data()), bucket);
    layout.each(buffer_.data(),
                [](Array gradient, Array place) { kernels::cpu::cast(gradient, place, {}); });
}

void HostExchangeLine::sum(kernels::Array values, const ExchangeBucket& bucket) {
    multiply(values, bucket.before);
    line_->sum(values);
    multiply(values, bucket.after);
}

}  // namespace

BucketLayout::BucketLayout(const ExchangeBucket& bucket)
    : gradients_(bucket.gradients), type_(bucket.gradients.front().dtype()) {
    if (bucket.in_f32 && is_low(type_)) type_ = DType::f32;
    for (const Tensor& gradient : gradients_) count_ += gradient.numel();
}

ExchangeTimer sum_of(std::vector<ExchangeTimer> timers) {
    return [timers = std::move(timers)] {
        ExchangeTimes sum;
        for (const ExchangeTimer& timer : timers) {
            const ExchangeTimes times = timer();
            sum.total_ms += times.total_ms;
            sum.hidden_ms += times.hidden_ms;
        }
        return sum;
    };
}

std::unique_ptr<ExchangeLine> make_exchange_line(std::unique_ptr<Communicator> line) {
    if (line->on_device()) return make_device_exchange_line(std::move(line));
    return std::make_unique<HostExchangeLine>(std::move(line));
}

}  // namespace engine
