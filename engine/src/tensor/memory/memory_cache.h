#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "tensor/device.h"
#include "tensor/memory/host_heap.h"

namespace engine {

/// Whether a step is being captured on the device. Then nothing may wait for it, as giving memory
/// back to it does.
bool is_recorded_on(const Device& device);

/// Sizes are rounded to four steps an octave, so that blocks of like tensors can be reused.
std::size_t size_class(std::size_t bytes);
/// Bytes that a block of `bytes` takes on the device. Large blocks of the host are rounded to pages
/// only: the heap that they come from can reuse any of them for any other.
std::size_t block_size(std::size_t bytes, const Device& device);

/// All memory that the engine takes of one device: the bytes in use, and what is free for reuse.
/// Free blocks are cached by size; large ones of the host return to a heap. Thread-safe.
class MemoryCache {
public:
    explicit MemoryCache(const Device& device);
    ~MemoryCache() { release(); }
    MemoryCache(const MemoryCache&) = delete;
    MemoryCache& operator=(const MemoryCache&) = delete;

    /// A block of this size, a block_size(). If the device has no more, releases the cached blocks
    /// and tries again, and then once for each reclaimable cache of this thread that frees memory
    /// (tensor/memory/reclaimable_cache.h). Throws kernels::OutOfMemory, kernels::DeviceError.
    void* allocate(std::size_t size);
    /// Keeps it for the next.
    void give(void* data, std::size_t size);
    /// Returns the cached blocks to the device, and their bytes to the caller. On a GPU that waits
    /// for all of its work; nothing is returned while a step is captured there, because the wait
    /// would end the capture. Other threads can allocate and free meanwhile.
    std::size_t release();

    /// Bytes of all blocks but those that are kept.
    std::size_t in_use();
    std::size_t limit() const { return limit_; }
    std::size_t set_limit(std::size_t bytes) { return limit_.exchange(bytes); }

private:
    static constexpr std::size_t size_classes = 4 * 65;
    using Blocks = std::array<std::vector<void*>, size_classes>;  // by size class

    static std::size_t index_of(std::size_t size);
    static std::size_t size_of_index(std::size_t index);
    bool is_in_heap(std::size_t size) const {
        return size >= HostHeap::least && device_.kind == Device::Kind::cpu;
    }
    void* take(std::size_t size);
    void* take_from_system(std::size_t size);
    void* take_from_heap(std::size_t size);
    void hold(std::size_t bytes);
    std::size_t release_heap();
    bool take_back(std::size_t size);

    const Device device_;
    std::mutex mutex_;
    Blocks free_;
    std::size_t cached_ = 0;  // of those in free_ and heap_, and of those on their way back
    std::atomic<std::size_t> held_{0};      // by all blocks, those included
    std::mutex releasing_;                  // before mutex_, and for long
    std::atomic<std::size_t> released_{0};  // that have gone back ever
    std::atomic<std::size_t> limit_;
    HostHeap heap_;  // empty for a GPU
};

/// The cache of a device; made at first use. Throws kernels::DeviceError if there is no such
/// device.
MemoryCache& memory_cache(const Device& device);

}  // namespace engine
