#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "engine/session/compute_thread.h"

namespace engine {

/// Limits the pace of a compute thread: while it is on, its turn lasts until the round has taken
/// long enough.
class Pacer final : public Turn {
public:
    /// `rounds_per_second` above 0.
    explicit Pacer(double rounds_per_second);

    /// Off at first. Wake the thread after turning it on.
    void turn(bool on);
    bool run_turn() override;

private:
    using Clock = std::chrono::steady_clock;
    const Clock::duration period_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool on_ = false;
    Clock::time_point next_{};
};

}  // namespace engine
