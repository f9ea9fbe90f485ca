#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace engine {

/// Throws Error(training) with MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code);

/// The unfinished messages between this rank and others. A long message is sent in pieces, so that
/// its progress can be seen. MPI thread only. The memory must stay valid until all have arrived.
class MpiMessages {
public:
    void send(const void* data, std::int64_t bytes, int rank, int tag);
    void receive(void* data, std::int64_t bytes, int rank, int tag);
    /// Lets MPI make progress, without waiting. True once everything has arrived.
    bool arrived();
    /// Whether a piece arrived in the last call of arrived().
    bool moved() const { return moved_; }

private:
    std::vector<MPI_Request> pending_;
    std::vector<int> indices_;
    bool moved_ = false;
};

}  // namespace engine
