#include "parallel/mpi_messages.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::int64_t piece_bytes = 256 * 1024;

template <typename Byte, typename Post>
void in_pieces(Byte* data, std::int64_t bytes, const Post& post) {
    for (std::int64_t at = 0; at < bytes; at += piece_bytes)
        post(data + at, static_cast<int>(std::min(piece_bytes, bytes - at)));
}

}  // namespace

void check_mpi(int code) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(ErrorCode::training,
                msg("The ranks cannot reach one another: {}.",
                    std::string(text.data(), static_cast<std::size_t>(length))));
}

void MpiMessages::send(const void* data, std::int64_t bytes, int rank, int tag) {
    in_pieces(static_cast<const char*>(data), bytes, [&](const char* piece, int size) {
        check_mpi(MPI_Isend(piece, size, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                            &pending_.emplace_back(MPI_REQUEST_NULL)));
    });
}

void MpiMessages::receive(void* data, std::int64_t bytes, int rank, int tag) {
    in_pieces(static_cast<char*>(data), bytes, [&](char* piece, int size) {
        check_mpi(MPI_Irecv(piece, size, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                            &pending_.emplace_back(MPI_REQUEST_NULL)));
    });
}

bool MpiMessages::arrived() {
    moved_ = false;
    if (pending_.empty()) return true;
    int count = 0;
    indices_.resize(pending_.size());
    check_mpi(MPI_Testsome(static_cast<int>(pending_.size()), pending_.data(), &count,
                           indices_.data(), MPI_STATUSES_IGNORE));
    moved_ = count > 0;
    if (moved_) std::erase(pending_, MPI_REQUEST_NULL);
    return pending_.empty();
}

}  // namespace engine
