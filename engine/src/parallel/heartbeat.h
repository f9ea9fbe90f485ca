#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace engine {

/// When each rank was last heard from. Rank 0 hears all others, and they hear rank 0, so a run of N
/// ranks sends 2 (N - 1) messages a beat. Knows no clock and no messages.
class Heartbeats {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds interval{1};
    /// A rank that has been silent for so long is lost.
    static constexpr std::chrono::seconds limit{20};

    Heartbeats(int rank, int ranks, Clock::time_point now);

    void heard(int rank, Clock::time_point now) { last_[static_cast<std::size_t>(rank)] = now; }
    /// To be asked at least once a second: the lowest rank that is lost. Time in which this process
    /// itself did not run (stopped, or swapped out) does not count against the others.
    std::optional<int> silent(Clock::time_point now);
    /// True once an interval: a beat is to be sent to peers().
    bool due(Clock::time_point now);
    const std::vector<int>& peers() const { return peers_; }

private:
    std::vector<int> peers_;  ///< ranks that this one hears and sends to
    std::vector<Clock::time_point> last_;
    Clock::time_point asked_;
    Clock::time_point next_beat_;
};

}  // namespace engine
