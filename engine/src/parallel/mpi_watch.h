#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/platform/local_process.h"
#include "engine/base/message.h"
#include "parallel/liveness.h"
#include "parallel/mpi_api.h"

namespace engine {

/// Why a launch cannot continue.
struct Loss {
    Message reason;
    int rank = -1;  ///< the lost rank; -1 if none is, but one has given up
};

/// Card that each rank sends the others at the start.
struct RankCard {
    std::array<char, 256> host{};
    LocalProcess process;
    std::uint64_t processors = 0;  ///< digest of the affinity mask
};

/// Watches the other ranks: their heartbeats, notices of ranks that give up, the ranks' processes
/// on this machine, and the launcher. MPI thread only.
class MpiWatch {
public:
    using Clock = Heartbeats::Clock;

    /// Collective.
    MpiWatch(int rank, int ranks);

    /// Returns what is wrong, if anything is. To be called several times a second. If this process
    /// was stopped for so long that the others may have given it up, the loss names this rank. It
    /// must not report that to the others.
    std::optional<Loss> look(Clock::time_point now);
    /// Sends the loss to all other ranks; takes at most half a second.
    void tell(const Loss& loss);
    /// Cancels the pending receives; to be called before MPI is finalised.
    void close();
    /// Ranks on this machine that share this one's processors; at least 1.
    int sharers() const;
    /// Ranks on this machine before this one.
    int local_rank() const;

private:
    std::optional<Loss> found(Clock::time_point now);
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
    Clock::time_point looked_;                ///< last call of look()
    std::optional<Clock::time_point> woken_;  ///< after a stop that was too long
    std::vector<MPI_Request> sent_beats_;     ///< by peer
    MPI_Request beat_ = mpi().request_null;
    MPI_Request notice_ = mpi().request_null;
    std::array<char, notice_bytes> notice_text_{};
};

}  // namespace engine
