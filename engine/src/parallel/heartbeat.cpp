#include "parallel/heartbeat.h"

namespace engine {

Heartbeats::Heartbeats(int rank, int ranks, Clock::time_point now)
    : last_(static_cast<std::size_t>(ranks), now), asked_(now), next_beat_(now) {
    if (rank > 0) peers_.push_back(0);
    for (int peer = 1; rank == 0 && peer < ranks; ++peer) peers_.push_back(peer);
}

std::optional<int> Heartbeats::silent(Clock::time_point now) {
    const auto gap = now - asked_;
    asked_ = now;
    if (gap > 2 * interval) {
        for (auto& last : last_) last += gap;
    }
    for (const int peer : peers_) {
        if (now - last_[static_cast<std::size_t>(peer)] > limit) return peer;
    }
    return std::nullopt;
}

bool Heartbeats::due(Clock::time_point now) {
    if (now < next_beat_) return false;
    next_beat_ = now + interval;
    return true;
}

}  // namespace engine
