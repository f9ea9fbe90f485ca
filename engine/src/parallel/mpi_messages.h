#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace engine {

/// Throws Error(training) with MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code);

/// Messages under way between this rank and others. A long one travels in pieces, whose arrivals
/// show that it moves. MPI thread only; the memory must stay until all have arrived.
class MpiMessages {
public:
    void send(const void* data, std::int64_t bytes, int rank, int tag);
    void receive(void* data, std::int64_t bytes, int rank, int tag);
    /// Lets MPI work, without waiting; true once everything has arrived.
    bool arrived();
    /// Whether a piece arrived in the last call of arrived().
    bool moved() const { return moved_; }

private:
    std::vector<MPI_Request> pending_;
    std::vector<int> indices_;
    bool moved_ = false;
};

}  // namespace engine
