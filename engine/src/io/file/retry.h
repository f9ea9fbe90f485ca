#pragma once

#include <algorithm>
#include <chrono>

namespace engine {

/// When to try something again that failed: at once the first time, then after 50 ms and twice as
/// long after each failure, up to 5 s.
class Retry {
public:
    bool is_due() const { return Clock::now() >= next_; }
    void succeeded() { *this = {}; }
    void failed() {
        delay_ = std::clamp(delay_ * 2, shortest, longest);
        next_ = Clock::now() + delay_;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::duration shortest = std::chrono::milliseconds(50);
    static constexpr Clock::duration longest = std::chrono::seconds(5);
    Clock::duration delay_{};
    Clock::time_point next_{};
};

}  // namespace engine
