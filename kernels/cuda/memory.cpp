#include <map>
#include <mutex>

#include "cuda/check.h"
#include "cuda/copy_small.h"
#include "cuda/native.h"
#include "cuda/state.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

/// Pinned blocks, by start: who copies to other host memory waits.
class PinnedBlocks {
public:
    void add(const void* data, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        blocks_[static_cast<const std::byte*>(data)] = bytes;
    }
    void remove(const void* data) {
        const std::lock_guard lock(mutex_);
        blocks_.erase(static_cast<const std::byte*>(data));
    }
    bool hold(const void* data, std::size_t bytes) {
        const auto* first = static_cast<const std::byte*>(data);
        const std::lock_guard lock(mutex_);
        const auto after = blocks_.upper_bound(first);
        if (after == blocks_.begin()) return false;
        const auto& [start, size] = *std::prev(after);
        return first + bytes <= start + size;
    }

private:
    std::mutex mutex_;
    std::map<const std::byte*, std::size_t> blocks_;
};
PinnedBlocks& pinned_blocks() {
    static auto* only = new PinnedBlocks;  // outlives whatever frees memory at exit
    return *only;
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Stream stream) {
    if (bytes == 0) return;
    auto* native = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaMemcpyAsync(to, from, bytes, kind, native), "cudaMemcpyAsync");
}

}  // namespace

void* allocate(std::size_t bytes) {
    use_device();
    void* data = nullptr;
    // CUDA gives no address for nothing.
    check_memory(cudaMalloc(&data, bytes == 0 ? 1 : bytes), "cudaMalloc", bytes);
    ++counters().allocations;
    return data;
}

void release(void* data) noexcept {
    if (!data) return;
    ++counters().synchronizations;
    // A lost device's memory is gone already.
    if (!lost()) note(cudaFree(data));
}

void* allocate_pinned(std::size_t bytes) {
    use_device();
    void* data = nullptr;
    check_memory(cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable),
                 "cudaHostAlloc", bytes);
    pinned_blocks().add(data, bytes);
    return data;
}

void release_pinned(void* data) noexcept {
    if (!data) return;
    pinned_blocks().remove(data);
    if (!lost()) note(cudaFreeHost(data));
}

void copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream) {
    if (bytes > 0 && !pinned_blocks().hold(host, bytes)) {
        // CUDA would keep the host's address, and read there in each replay.
        if (capturing(stream))
            throw DeviceError(
                "cudaMemcpyAsync: memory that is not pinned cannot be copied from in a recorded "
                "step");
        // The driver copies the bytes through its own memory, and may wait for the stream.
        ++counters().synchronizations;
    }
    copy(device, host, bytes, cudaMemcpyHostToDevice, stream);
}

void copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream) {
    copy(host, device, bytes, cudaMemcpyDeviceToHost, stream);
    if (!pinned_blocks().hold(host, bytes)) synchronize(stream);
}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
    // A recorded copy is a node that takes longer than a small kernel.
    if (bytes <= max_small_copy && capturing(stream))
        copy_small(to, from, bytes, stream);
    else
        copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

void copy_between_devices(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, Stream stream) {
    if (bytes == 0) return;
    auto* native = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaMemcpyPeerAsync(to, ordinal_of(to_device), from, ordinal_of(from_device), bytes,
                              native),
          "cudaMemcpyPeerAsync");
}

void set_zero(void* device, std::size_t bytes, Stream stream) {
    if (bytes == 0) return;
    auto* native = static_cast<cudaStream_t>(native_stream(stream));
    check(cudaMemsetAsync(device, 0, bytes, native), "cudaMemsetAsync");
}

}  // namespace kernels::cuda
