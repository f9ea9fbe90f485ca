#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace engine {

/// The time of the last message of each rank. Rank 0 exchanges beats with all others, and these
/// only with rank 0, so a run of N ranks sends 2 (N - 1) messages a beat. The caller sends the
/// messages and reads the clock.
class Heartbeats {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds interval{1};
    /// A rank that has been silent for so long is lost.
    static constexpr std::chrono::seconds limit{20};

    Heartbeats(int rank, int ranks, Clock::time_point now);

    void received(int rank, Clock::time_point now);
    /// The lowest rank that is lost. To be called at least once a second. A longer time between two
    /// calls is a pause, in which this process itself did not run: it was stopped or swapped out,
    /// or the machine slept. Forgives one pause per silence, the longest, so that repeated pauses
    /// cannot hide a lost rank.
    std::optional<int> silent(Clock::time_point now);
    /// True once per interval, when a beat must be sent to peers().
    bool due(Clock::time_point now);
    const std::vector<int>& peers() const { return peers_; }

private:
    /// The time since the last message of a rank.
    struct Silence {
        Clock::time_point since;
        Clock::duration longest_pause{};
    };

    void add_pause(Clock::time_point now);

    std::vector<int> peers_;  ///< ranks that this one exchanges beats with
    std::vector<Silence> silences_;
    Clock::time_point asked_;  ///< last call of silent()
    Clock::time_point next_beat_;
};

}  // namespace engine
