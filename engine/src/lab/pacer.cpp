#include "lab/pacer.h"

namespace engine {

Pacer::Pacer(double rounds_per_second)
    : period_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / rounds_per_second))) {}

void Pacer::turn(bool on) {
    {
        const std::lock_guard lock(mutex_);
        on_ = on;
        next_ = Clock::now() + period_;
    }
    changed_.notify_all();
}

bool Pacer::run_turn() {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, next_, [this] { return !on_; });
    // A round that took too long is not made up for.
    next_ = std::max(next_ + period_, Clock::now());
    return on_;
}

}  // namespace engine
