#include "parallel/mpi_operations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "engine/base/error.h"
#include "kernels/rank_group.h"

namespace engine {
namespace {

constexpr std::int64_t piece_bytes = 256 * 1024;

template <typename Byte, typename Post>
void in_pieces(Byte* data, std::int64_t bytes, const Post& post) {
    for (std::int64_t at = 0; at < bytes; at += piece_bytes)
        post(data + at, static_cast<int>(std::min(piece_bytes, bytes - at)));
}

using kernels::Array;

constexpr std::int64_t short_bytes = 4096;

std::int64_t bytes_of(const Array& array) {
    return array.size * static_cast<std::int64_t>(kernels::size_of(array.dtype));
}

}  // namespace

void check_mpi(int code) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    mpi().error_string(code, text.data(), &length);
    throw Error(ErrorCode::training,
                msg("The ranks cannot reach one another: {}.",
                    std::string(text.data(), static_cast<std::size_t>(length))));
}

void MpiMessages::send(const void* data, std::int64_t bytes, int rank, int tag) {
    in_pieces(static_cast<const char*>(data), bytes, [&](const char* piece, int size) {
        check_mpi(mpi().isend(piece, size, mpi().byte, rank, tag, mpi().comm_world,
                              &pending_.emplace_back(mpi().request_null)));
    });
}

void MpiMessages::receive(void* data, std::int64_t bytes, int rank, int tag) {
    in_pieces(static_cast<char*>(data), bytes, [&](char* piece, int size) {
        check_mpi(mpi().irecv(piece, size, mpi().byte, rank, tag, mpi().comm_world,
                              &pending_.emplace_back(mpi().request_null)));
    });
}

bool MpiMessages::arrived() {
    moved_ = false;
    if (pending_.empty()) return true;
    int count = 0;
    indices_.resize(pending_.size());
    check_mpi(mpi().test_some(static_cast<int>(pending_.size()), pending_.data(), &count,
                              indices_.data(), MPI_STATUSES_IGNORE));
    moved_ = count > 0;
    if (moved_) std::erase(pending_, mpi().request_null);
    return pending_.empty();
}

MpiOperation::State MpiOperation::advance() {
    bool moved = phase_ == 0;
    while (phase_ == 0 || messages_.arrived()) {
        if (!begin_phase(phase_++)) return State::done;
        moved = true;
    }
    return moved || messages_.moved() ? State::moving : State::waiting;
}

bool MpiBroadcast::begin_phase(int phase) {
    if (phase == 0) {
        // A rank's parent is the rank without its lowest bit.
        if (rank_ > 0) messages_.receive(data_.data, bytes_of(data_), rank_ & (rank_ - 1), tag_);
        return true;
    }
    if (phase == 1) send_to_children();
    return phase == 1;
}

void MpiBroadcast::send_to_children() {
    for (int bit = 1; rank_ + bit < ranks_ && (rank_ & bit) == 0; bit *= 2)
        messages_.send(data_.data, bytes_of(data_), rank_ + bit, tag_);
}

MpiSum::MpiSum(int rank, int ranks, int tag, Array data, std::vector<std::byte>& received)
    : MpiOperation(rank, ranks, tag),
      data_(data),
      is_short_(bytes_of(data) <= short_bytes),
      received_(received) {}

Array MpiSum::part_of(int rank) const {
    if (is_short_) return data_;
    const auto item = static_cast<std::int64_t>(kernels::size_of(data_.dtype));
    return {static_cast<std::byte*>(data_.data) + part_begin(rank) * item, data_.dtype,
            part_begin(rank + 1) - part_begin(rank)};
}

bool MpiSum::begin_phase(int phase) {
    if (phase == 0) collect();
    if (phase == 1) {
        add();
        if (!is_short_) distribute();
    }
    return phase < 2;
}

void MpiSum::collect() {
    const std::int64_t own = bytes_of(part_of(rank_));
    const auto needed = static_cast<std::size_t>(own * ranks_);
    if (received_.size() < needed) received_.resize(needed);
    for (int rank = 0; rank < ranks_; ++rank) {
        if (rank == rank_) continue;
        messages_.receive(received_.data() + own * rank, own, rank, tag_);
        const Array theirs = part_of(rank);
        messages_.send(theirs.data, bytes_of(theirs), rank, tag_);
    }
}

void MpiSum::add() {
    const Array mine = part_of(rank_);
    std::vector<const void*> parts;
    for (int rank = 0; rank < ranks_; ++rank)
        parts.push_back(rank == rank_ ? mine.data : received_.data() + bytes_of(mine) * rank);
    kernels::cpu::rank_sum({{mine.data}}, parts, mine.dtype, 0, mine.size);
}

void MpiSum::distribute() {
    const Array mine = part_of(rank_);
    for (int rank = 0; rank < ranks_; ++rank) {
        if (rank == rank_) continue;
        const Array theirs = part_of(rank);
        messages_.receive(theirs.data, bytes_of(theirs), rank, tag_);
        messages_.send(mine.data, bytes_of(mine), rank, tag_);
    }
}

bool MpiGather::begin_phase(int phase) {
    if (phase > 0) return false;
    const auto item = static_cast<std::int64_t>(kernels::size_of(all_.dtype));
    auto* to = static_cast<std::byte*>(all_.data);
    for (int rank = 0; rank < ranks_; ++rank) {
        const std::int64_t bytes = counts_[static_cast<std::size_t>(rank)] * item;
        if (rank != rank_) {
            messages_.receive(to, bytes, rank, tag_);
            messages_.send(part_.data, part_.size * item, rank, tag_);
        } else if (bytes > 0 && to != part_.data) {
            std::memcpy(to, part_.data, static_cast<std::size_t>(bytes));
        }
        to += bytes;
    }
    return true;
}

}  // namespace engine
