#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/array.h"
#include "parallel/mpi_api.h"

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

/// One call of a communicator, divided into steps that never wait. MPI thread only.
class MpiOperation {
public:
    enum class State { waiting, moving, done };

    MpiOperation(int rank, int ranks, int tag) : rank_(rank), ranks_(ranks), tag_(tag) {}
    virtual ~MpiOperation() = default;
    MpiOperation(const MpiOperation&) = delete;
    MpiOperation& operator=(const MpiOperation&) = delete;

    /// Begins or continues. Must not be called again after `done`. Throws Error(training).
    State advance();

protected:
    /// Posts the messages of the next phase. False if there is none.
    virtual bool begin_phase(int phase) = 0;

    const int rank_, ranks_, tag_;
    MpiMessages messages_;

private:
    int phase_ = 0;
};

/// Sends rank 0's bytes to all ranks along a binomial tree.
class MpiBroadcast final : public MpiOperation {
public:
    MpiBroadcast(int rank, int ranks, int tag, kernels::Array data)
        : MpiOperation(rank, ranks, tag), data_(data) {}

private:
    bool begin_phase(int phase) override;
    void send_to_children();

    kernels::Array data_;
};

/// Each rank adds up one part of the numbers, in the order of the ranks, and sends the sums to the
/// others. A short array is added up whole by every rank, in the same order.
class MpiSum final : public MpiOperation {
public:
    /// `received` is memory for the other ranks' numbers, kept from one sum to the next.
    MpiSum(int rank, int ranks, int tag, kernels::Array data, std::vector<std::byte>& received);

private:
    bool begin_phase(int phase) override;
    void collect();
    void add();
    void distribute();
    std::int64_t part_begin(int rank) const { return data_.size * rank / ranks_; }
    kernels::Array part_of(int rank) const;

    kernels::Array data_;
    bool is_short_;
    std::vector<std::byte>& received_;  ///< this rank's part, of each rank
};

/// Every rank sends its part to all.
class MpiGather final : public MpiOperation {
public:
    MpiGather(int rank, int ranks, int tag, kernels::Array all, kernels::ConstArray part,
              std::span<const std::int64_t> counts)
        : MpiOperation(rank, ranks, tag), all_(all), part_(part), counts_(counts) {}

private:
    bool begin_phase(int phase) override;

    kernels::Array all_;
    kernels::ConstArray part_;
    std::span<const std::int64_t> counts_;
};

}  // namespace engine
