#include "parallel/exchange_line.h"

#include <utility>

#include "kernels/elementwise.h"
#include "kernels/parallel.h"

namespace engine {
namespace {

void multiply(kernels::Array values, float factor) {
    if (factor != 1) kernels::cpu::scale_by(values, values, &factor, {});
}

}  // namespace

ExchangeLine::ExchangeLine(std::unique_ptr<Communicator> line)
    : line_(std::move(line)), thread_([this] { work(); }) {}

/// Aborts a bucket that is being exchanged: after a failed step it would wait for ranks that may
/// have failed too.
ExchangeLine::~ExchangeLine() {
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

void ExchangeLine::send(ExchangeBucket bucket) {
    {
        const std::lock_guard lock(mutex_);
        if (!error_) {
            waiting_.push_back(std::move(bucket));
            ++open_;
        }
    }
    changed_.notify_all();
}

std::vector<ExchangeLine::Span> ExchangeLine::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0 || error_; });
    if (error_) std::rethrow_exception(error_);
    return std::exchange(done_, {});
}

void ExchangeLine::work() {
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

void ExchangeLine::exchange(const ExchangeBucket& bucket) {
    using kernels::Array;
    const DType own = bucket.gradients.front().dtype();
    const DType type = bucket.in_f32 && is_low(own) ? DType::f32 : own;
    std::int64_t count = 0;
    for (const Tensor& gradient : bucket.gradients) count += gradient.numel();
    buffer_.resize(static_cast<std::size_t>(count) * size_of(type));
    const auto each = [&](const auto& f) {
        std::byte* at = buffer_.data();
        for (const Tensor& gradient : bucket.gradients) {
            f(gradient.array(), Array{at, type, gradient.numel()});
            at += static_cast<std::size_t>(gradient.numel()) * size_of(type);
        }
    };
    each([](Array gradient, Array place) { kernels::cpu::cast(place, gradient, {}); });
    const Array all{buffer_.data(), type, count};
    multiply(all, bucket.before);
    line_->sum(all);
    multiply(all, bucket.after);
    each([](Array gradient, Array place) { kernels::cpu::cast(gradient, place, {}); });
}

}  // namespace engine
