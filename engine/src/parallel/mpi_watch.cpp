#include "parallel/mpi_watch.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "parallel/communicator.h"
#include "parallel/mpi_operations.h"

namespace engine {
namespace {

// Lines of communicators have the tags from 2 on.
constexpr int beat_tag = 0;
constexpr int notice_tag = 1;

// The launcher resumes a rank that the others gave up, and ends it within two seconds.
constexpr std::chrono::seconds time_to_be_ended{5};

std::uint64_t digest_of_processors() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    std::uint64_t digest = 0xcbf29ce484222325u;  // FNV-1a
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        digest =
            (digest ^ static_cast<std::uint64_t>(CPU_ISSET(cpu, &mask) ? 1 : 0)) * 0x100000001b3u;
    return digest;
}

RankCard own_card() {
    RankCard card;
    gethostname(card.host.data(), card.host.size() - 1);
    card.process = local_process(getpid());
    card.processors = digest_of_processors();
    return card;
}

std::vector<RankCard> exchange_cards(int ranks) {
    const RankCard own = own_card();
    std::vector<RankCard> cards(static_cast<std::size_t>(ranks));
    constexpr int bytes = sizeof own;
    check_mpi(mpi().all_gather(&own, bytes, mpi().byte, cards.data(), bytes, mpi().byte,
                               mpi().comm_world));
    return cards;
}

}  // namespace

MpiWatch::MpiWatch(int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      cards_(exchange_cards(ranks)),
      parent_(getppid()),
      beats_(rank, ranks, Clock::now()),
      looked_(Clock::now()),
      sent_beats_(static_cast<std::size_t>(ranks), mpi().request_null) {
    const RankCard& own = cards_[static_cast<std::size_t>(rank)];
    for (int other = 0; other < ranks; ++other) {
        const RankCard& card = cards_[static_cast<std::size_t>(other)];
        // Containers may share a host's name but not its processes.
        if (other != rank && card.host == own.host && card.process.is_alive())
            local_.push_back(other);
    }
    await_beat();
    await_notice();
}

int MpiWatch::sharers() const {
    const RankCard& own = cards_[static_cast<std::size_t>(rank_)];
    return static_cast<int>(std::ranges::count_if(cards_, [&own](const RankCard& card) {
        return card.host == own.host && card.processors == own.processors;
    }));
}

int MpiWatch::local_rank() const {
    const RankCard& own = cards_[static_cast<std::size_t>(rank_)];
    return static_cast<int>(
        std::ranges::count_if(cards_.begin(), cards_.begin() + rank_,
                              [&own](const RankCard& card) { return card.host == own.host; }));
}

std::optional<Loss> MpiWatch::look(Clock::time_point now) {
    // The others count from this rank's last beat, so they may give it up a little before the
    // limit.
    if (now - looked_ > Heartbeats::limit / 2) woken_ = now;
    looked_ = now;
    auto loss = found(now);
    if (loss && woken_ && now - *woken_ < time_to_be_ended) loss->rank = rank_;
    return loss;
}

std::optional<Loss> MpiWatch::found(Clock::time_point now) {
    if (auto loss = notice()) return loss;
    if (auto loss = ended_process()) return loss;
    if (getppid() != parent_) return Loss{msg("The launcher that started the ranks has ended.")};
    take_beats(now);
    if (beats_.due(now)) send_beats();
    const auto silent = beats_.silent(now);
    if (!silent) return std::nullopt;
    const RankCard& card = cards_[static_cast<std::size_t>(*silent)];
    return Loss{msg("Rank {} (process {} on {}) has not responded for 20 seconds.", *silent,
                    card.process.pid, card.host.data()),
                *silent};
}

std::optional<Loss> MpiWatch::ended_process() const {
    for (const int rank : local_) {
        const RankCard& card = cards_[static_cast<std::size_t>(rank)];
        if (card.process.is_alive()) continue;
        return Loss{msg("Rank {} (process {} on {}) ended unexpectedly.", rank, card.process.pid,
                        card.host.data()),
                    rank};
    }
    return std::nullopt;
}

void MpiWatch::await_beat() {
    check_mpi(
        mpi().irecv(nullptr, 0, mpi().byte, MPI_ANY_SOURCE, beat_tag, mpi().comm_world, &beat_));
}

void MpiWatch::await_notice() {
    check_mpi(mpi().irecv(notice_text_.data(), notice_bytes, mpi().byte, MPI_ANY_SOURCE, notice_tag,
                          mpi().comm_world, &notice_));
}

void MpiWatch::take_beats(Clock::time_point now) {
    for (;;) {
        int arrived = 0;
        MPI_Status status;
        check_mpi(mpi().test(&beat_, &arrived, &status));
        if (arrived == 0) return;
        beats_.received(status.MPI_SOURCE, now);
        await_beat();
    }
}

void MpiWatch::send_beats() {
    for (const int peer : beats_.peers()) {
        MPI_Request& last = sent_beats_[static_cast<std::size_t>(peer)];
        int arrived = 0;
        check_mpi(mpi().test(&last, &arrived, MPI_STATUS_IGNORE));
        if (arrived == 0) continue;  // the last beat is still unread; no second one
        check_mpi(mpi().isend(nullptr, 0, mpi().byte, peer, beat_tag, mpi().comm_world, &last));
    }
}

/// The lost rank as 4 bytes, then the packed reason.
std::optional<Loss> MpiWatch::notice() {
    int arrived = 0;
    MPI_Status status;
    check_mpi(mpi().test(&notice_, &arrived, &status));
    if (arrived == 0) return std::nullopt;
    int bytes = 0;
    check_mpi(mpi().get_count(&status, mpi().byte, &bytes));
    Loss loss;
    std::memcpy(&loss.rank, notice_text_.data(), sizeof loss.rank);
    loss.reason = unpacked(std::string_view(notice_text_.data(), static_cast<std::size_t>(bytes))
                               .substr(sizeof loss.rank));
    return loss;
}

void MpiWatch::tell(const Loss& loss) {
    std::string text(sizeof loss.rank, '\0');
    std::memcpy(text.data(), &loss.rank, sizeof loss.rank);
    text += packed(loss.reason).substr(0, notice_text_.size() - text.size());
    MpiMessages messages;
    for (int rank = 0; rank < ranks_; ++rank) {
        if (rank != rank_ && rank != loss.rank)
            messages.send(text.data(), std::ssize(text), rank, notice_tag);
    }
    const auto until = Clock::now() + std::chrono::milliseconds(500);
    while (!messages.arrived() && Clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void MpiWatch::close() {
    take_beats(Clock::now());  // MPICH reports messages that were never received
    for (MPI_Request* request : {&beat_, &notice_}) {
        mpi().cancel(request);
        mpi().request_free(request);
    }
    for (MPI_Request& request : sent_beats_) {
        if (request != mpi().request_null) mpi().request_free(&request);
    }
}

}  // namespace engine
