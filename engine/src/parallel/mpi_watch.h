#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/message.h"
#include "parallel/heartbeat.h"
#include "parallel/local_process.h"

namespace engine {

/// Why a launch cannot go on.
struct Loss {
    Message reason;
    int rank = -1;  ///< that is lost; -1: none, a rank has said that it cannot go on
};

/// What each rank tells the others when they meet.
struct RankCard {
    std::array<char, 256> host{};
    LocalProcess process;
    std::uint64_t processors = 0;  ///< digest of the affinity mask
};

/// Looks after the other ranks: heartbeats, notices of ranks that give up, processes of this
/// machine that end, and the launcher. MPI thread only.
class MpiWatch {
public:
    using Clock = Heartbeats::Clock;

    /// Collective.
    MpiWatch(int rank, int ranks);

    /// To be called several times a second: what is wrong, if anything is.
    std::optional<Loss> look(Clock::time_point now);
    /// Tells all others, waiting at most half a second.
    void tell(const Loss& loss);
    /// Takes back what waits for messages: before MPI is finalised.
    void close();
    /// Ranks on this machine that share this one's processors; at least 1.
    int sharers() const;

private:
    void send_beats();
    void take_beats(Clock::time_point now);
    std::optional<Loss> notice();
    std::optional<Loss> ended_process() const;
    void await_notice();
    void await_beat();

    static constexpr int notice_bytes = 2048;

    int rank_, ranks_;
    std::vector<RankCard> cards_;
    std::vector<int> local_;  ///< other ranks whose processes can be seen here
    int parent_;
    Heartbeats beats_;
    std::vector<MPI_Request> sent_beats_;  ///< by peer
    MPI_Request beat_ = MPI_REQUEST_NULL;
    MPI_Request notice_ = MPI_REQUEST_NULL;
    std::array<char, notice_bytes> notice_text_{};
};

}  // namespace engine
