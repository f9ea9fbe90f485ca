#include "parallel/liveness.h"

#include <algorithm>

namespace engine {

Heartbeats::Heartbeats(int rank, int ranks, Clock::time_point now)
    : silences_(static_cast<std::size_t>(ranks), Silence{now}), asked_(now), next_beat_(now) {
    if (rank > 0) peers_.push_back(0);
    for (int peer = 1; rank == 0 && peer < ranks; ++peer) peers_.push_back(peer);
}

void Heartbeats::received(int rank, Clock::time_point now) {
    silences_[static_cast<std::size_t>(rank)] = {now};
}

std::optional<int> Heartbeats::silent(Clock::time_point now) {
    if (now - asked_ > 2 * interval) add_pause(now);
    asked_ = now;
    for (const int peer : peers_) {
        const Silence& silence = silences_[static_cast<std::size_t>(peer)];
        if (now - silence.since - silence.longest_pause > limit) return peer;
    }
    return std::nullopt;
}

/// A pause is no part of the silence of a rank whose message was read right after it.
void Heartbeats::add_pause(Clock::time_point now) {
    for (Silence& silence : silences_) {
        const auto pause = now - std::max(asked_, silence.since);
        silence.longest_pause = std::max(silence.longest_pause, pause);
    }
}

bool Heartbeats::due(Clock::time_point now) {
    if (now < next_beat_) return false;
    next_beat_ = now + interval;
    return true;
}

}  // namespace engine
