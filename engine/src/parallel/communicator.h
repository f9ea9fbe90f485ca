#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "kernels/array.h"
#include "tensor/device.h"

namespace engine {

class DeviceRanks;

/// Connects one rank with the other ranks of a run. Ranks are processes, or threads in tests.
///
/// - Every rank makes the same calls in the same order with the same sizes. A call returns
///   when this rank has its result. While it waits it leaves the processor to other threads.
/// - One thread at a time uses a line. Work that must not wait for other calls, as the exchange of
///   gradients during a backward pass, has a line of its own.
/// - All memory is host memory; on_device() is for that of GPUs.
/// - Results have the same bits on every rank, and in every run with the same number of ranks.
/// - Calls throw Error(training) with one sentence if a rank is lost or has called abort().
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;  ///< from 0
    virtual int size() const = 0;  ///< at least 2
    /// The rank's number among those of this machine, from 0.
    virtual int local_rank() const = 0;

    /// Copies rank 0's bytes to all ranks.
    virtual void broadcast(kernels::Array data) = 0;
    /// Replaces the numbers on every rank by their sum over all ranks, added in the order of the
    /// ranks by kernels::cpu::rank_sum. f64, f32, f16, bf16 or i64.
    virtual void sum(kernels::Array data) = 0;
    /// Writes the parts of all ranks to `all`, one after the other in the order of the ranks.
    /// counts[r] is the number of elements in rank r's part.
    virtual void gather(kernels::Array all, kernels::ConstArray part,
                        std::span<const std::int64_t> counts) = 0;
    /// Returns when all ranks have called it.
    virtual void barrier() = 0;

    /// Another line between the same ranks. All ranks call it, one line at a time.
    virtual std::unique_ptr<Communicator> line() = 0;
    /// Says that this rank cannot continue: the calls of all other ranks, also those that are
    /// waiting, on any line, throw with this sentence. Returns at once. Any thread may call it.
    virtual void abort(const std::string& sentence) noexcept = 0;

    /// Connects the GPUs of the ranks; null if they compute on CPUs.
    virtual DeviceRanks* on_device() noexcept { return nullptr; }

    /// Calls act(sentence) once a rank is lost or has called abort(); at once if that has happened.
    /// On any thread, for which act must not wait.
    virtual void when_lost(std::function<void(const Message&)> act) = 0;
};

/// Whether `mine` is true on any rank; all ranks call it.
bool any(Communicator& line, bool mine);
/// Each rank's number, in their order.
std::vector<std::int64_t> gather_counts(Communicator& line, std::int64_t mine);

// The communicator's calls for memory of the host or of the device that this rank computes on. On a
// GPU they wait for nothing, and are in order with the compute stream.

void broadcast_over(Communicator& ranks, kernels::Array data, const Device& device);
void sum_over(Communicator& ranks, kernels::Array data, const Device& device);
void gather_over(Communicator& ranks, kernels::Array all, kernels::ConstArray part,
                 std::span<const std::int64_t> counts, const Device& device);

/// A message as one text, to be sent to another rank: it keeps its key and its arguments, so that
/// the window can still translate it.
std::string packed(const Message& message);
Message unpacked(std::string_view text);

/// Compares a text of every rank (a version, settings, a digest of the data) with rank 0's. If one
/// differs, throws Error(training) on all ranks with the sentence of the lowest such rank. The
/// ranks that differ get that sentence from `difference`, called with rank 0's text.
void require_same(Communicator& line, const std::string& own,
                  const std::function<Message(const std::string& of_rank_0)>& difference);

}  // namespace engine
