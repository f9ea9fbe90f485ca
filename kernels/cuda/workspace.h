#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/array.h"

namespace kernels::cuda {

/// Scratch with which every stream begins: cuBLASLt's recommendation for Hopper. The simulated
/// device guards each page of it at each turn, and needs none.
#ifdef HALFTONE_SIMT
constexpr std::size_t min_workspace = std::size_t{64} << 10;
#else
constexpr std::size_t min_workspace = std::size_t{32} << 20;
#endif

/// Scratch on the current device for the next work on this stream, 256-byte aligned, at least
/// `bytes`. The next call for the stream may return the same memory; if the scratch had to grow,
/// the earlier memory may go to others. A graph that captures the work holds the scratch as long as
/// it lives.
void* workspace(std::size_t bytes, Stream stream);

/// Words that finish_counts() gives, for as many groups of blocks that count themselves.
constexpr std::int64_t max_finish_counts = 1024;

/// Words on the current device in which the blocks of a kernel on this stream count themselves
/// (`is_last_block`): all are 0 when a kernel starts, and it leaves them so. A graph that captures
/// the kernel holds them as long as it lives.
unsigned* finish_counts(Stream stream);

/// Memory on the current device from the source of scratch, released with the object.
class ScopedWorkspace {
public:
    explicit ScopedWorkspace(std::size_t bytes);
    ~ScopedWorkspace();
    ScopedWorkspace(const ScopedWorkspace&) = delete;
    ScopedWorkspace& operator=(const ScopedWorkspace&) = delete;
    void* data() const { return data_; }

private:
    void* data_;
    std::size_t bytes_;
    int device_;
    void (*give_)(void*, std::size_t, int);
};

/// Returns cached memory to the current device (set_cache_trimmer).
void trim_caches();

/// Parts of one workspace: each take() is 256-byte aligned.
class WorkspaceParts {
public:
    /// Counts `bytes` and gives where they begin, from the workspace's start.
    std::size_t take(std::size_t bytes) {
        const std::size_t start = total_;
        total_ += (bytes + 255) / 256 * 256;
        return start;
    }
    std::size_t total() const { return total_; }

private:
    std::size_t total_ = 0;
};

}  // namespace kernels::cuda
