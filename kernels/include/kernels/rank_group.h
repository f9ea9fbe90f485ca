#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>

#include "kernels/array.h"
#include "kernels/cuda_libraries.h"

/// Exchange of device memory between ranks, each with a GPU of its own, through NCCL.
namespace kernels::cuda {

/// NCCL, opened if need be. Not found in a build without CUDA. Never throws DeviceError.
LibraryInfo rank_library();

/// Identifies a group that is about to be formed. One rank makes it and sends it to the others.
struct RankGroupId {
    std::array<char, 128> bytes{};
};
/// Throws DeviceError without NCCL.
RankGroupId make_rank_group_id();

/// This rank among the ranks of a group, on the device that the calling thread had selected when it
/// was constructed.
///
/// - Every rank makes the same calls in the same order with the same sizes, all on the same stream.
/// - Calls are asynchronous on the stream.
/// - One thread at a time uses it; abort() may come from any thread.
/// - Throws DeviceError with the name of NCCL's call.
class RankGroup {
public:
    /// Returns when all `ranks` have called it.
    RankGroup(const RankGroupId& id, int rank, int ranks);
    /// Waits for the group's work, unless it was aborted.
    ~RankGroup();
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    /// Replaces the numbers by their sum over all ranks, with the same bits on every rank. The
    /// order of the additions is NCCL's. f64, f32, f16, bf16 or i64.
    void sum(Array data, Stream stream);
    /// Copies rank 0's bytes to all ranks.
    void broadcast(Array data, Stream stream);
    /// Writes the parts of all ranks to `all`, one after the other in the order of the ranks.
    /// counts[r] is the number of elements of rank r's part.
    void gather(Array all, ConstArray part, std::span<const std::int64_t> counts, Stream stream);
    /// Throws if an earlier call has failed since, as when the connection to a rank breaks.
    void check_errors();
    /// Ends the work that waits for other ranks. Later calls throw.
    void abort() noexcept;

private:
    const int rank_;
    std::mutex mutex_;
    void* handle_ = nullptr;  // guarded by mutex_; null after abort()
};

}  // namespace kernels::cuda

namespace kernels::cpu {

/// Elements [begin, end) of the sum of equally long dense parts, written to each of `outs`, which
/// may be the parts themselves. Added in the order of the parts: f64 in f64, i64 wrapping, others
/// in f32 and rounded once. dtype f64, f32, f16, bf16 or i64.
void rank_sum(std::span<void* const> outs, std::span<const void* const> parts, DType dtype,
              std::int64_t begin, std::int64_t end);

}  // namespace kernels::cpu
