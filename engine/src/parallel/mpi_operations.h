#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/array.h"
#include "parallel/mpi_messages.h"

namespace engine {

/// One call of a communicator, as steps that never wait. MPI thread only.
class MpiOperation {
public:
    enum class State { waiting, moving, done };

    MpiOperation(int rank, int ranks, int tag) : rank_(rank), ranks_(ranks), tag_(tag) {}
    virtual ~MpiOperation() = default;
    MpiOperation(const MpiOperation&) = delete;
    MpiOperation& operator=(const MpiOperation&) = delete;

    /// Begins or goes on; not to be called again once done. Throws Error(training).
    State advance();

protected:
    /// Posts the messages of the next phase; false: there is none.
    virtual bool begin_phase(int phase) = 0;

    const int rank_, ranks_, tag_;
    MpiMessages messages_;

private:
    int phase_ = 0;
};

/// Rank 0's bytes reach all along a binomial tree.
class MpiBroadcast final : public MpiOperation {
public:
    MpiBroadcast(int rank, int ranks, int tag, kernels::Array data)
        : MpiOperation(rank, ranks, tag), data_(data) {}

private:
    bool begin_phase(int phase) override;
    void send_to_children();

    kernels::Array data_;
};

/// Each rank adds one part of the numbers, those of all ranks in their order, and sends the sums to
/// the others; short arrays are added by every rank in the same order.
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
