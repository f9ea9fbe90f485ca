#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/array.h"

namespace engine {

/// One rank's line to the other ranks of a run: processes, or threads in tests.
///
/// Every rank makes the same calls in the same order with the same sizes; a call returns when this
/// rank has its result. One thread at a time uses a line: what must not wait for others (the
/// exchange of gradients beside a backward pass) takes a line of its own. All memory is the host's.
/// Results have the same bits on every rank, and in every run of as many ranks. While a call waits
/// it leaves the processor to others. Throws Error(training) with one sentence where a rank is lost
/// or has called abort().
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;  ///< from 0
    virtual int size() const = 0;  ///< at least 2

    /// Rank 0's bytes for all.
    virtual void broadcast(kernels::Array data) = 0;
    /// The sum over all ranks in place of each one's numbers: f64, f32, f16, bf16 or i64, as
    /// kernels::cpu::rank_sum adds them, in the order of the ranks.
    virtual void sum(kernels::Array data) = 0;
    /// The parts of all ranks one behind the other, in their order, in `all`; counts[r]: elements
    /// of rank r's part.
    virtual void gather(kernels::Array all, kernels::ConstArray part,
                        std::span<const std::int64_t> counts) = 0;
    /// Returns when all ranks have come here.
    virtual void barrier() = 0;

    /// Another line between the same ranks. All ranks call it, one line at a time.
    virtual std::unique_ptr<Communicator> line() = 0;
    /// This rank cannot go on: all others' calls, waiting ones too and of any line, throw with this
    /// sentence. Returns at once. May be called by any thread.
    virtual void abort(const std::string& sentence) noexcept = 0;
};

/// Whether `mine` is true on any rank; all ranks call it.
bool any(Communicator& line, bool mine);
/// Each rank's number, in their order.
std::vector<std::int64_t> gather_counts(Communicator& line, std::int64_t mine);

}  // namespace engine
