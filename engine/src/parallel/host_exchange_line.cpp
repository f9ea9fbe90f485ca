#include "parallel/host_exchange_line.h"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "parallel/bucket_layout.h"

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

}  // namespace

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

}  // namespace engine
