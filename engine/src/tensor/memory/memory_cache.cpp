#include "tensor/memory/memory_cache.h"

#include <bit>
#include <limits>
#include <map>
#include <memory>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "tensor/deferred_errors.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/reclaimable_cache.h"
#include "tensor/memory/workspace_allocator.h"

namespace engine {
namespace {

void* take_memory(std::size_t size, const Device& device) {
    if (device.kind == Device::Kind::cpu) return kernels::cpu::allocate(size);
    const DeviceScope scope(device);
    return kernels::cuda::allocate(size);
}

void give_memory(void* data, const Device& device) {
    if (device.kind == Device::Kind::cpu)
        kernels::cpu::release(data);
    else
        kernels::cuda::release(data);
}

/// Asks the system only for a large block that needs `fresh` new bytes, where that costs little.
void check_system_has(std::size_t block, std::size_t fresh) {
    constexpr std::size_t large = std::size_t{64} << 20;
    if (block < large || fresh == 0) return;
    if (fresh > static_cast<std::size_t>(kernels::cpu::available_memory()))
        throw kernels::OutOfMemory(block);
}

std::size_t memory_of(const Device& device) {
    if (device.kind == Device::Kind::cpu)
        return static_cast<std::size_t>(kernels::cpu::info().memory_bytes);
    return static_cast<std::size_t>(kernels::cuda::device_info(device.index).memory_bytes);
}

/// Never destroyed: a tensor may be freed later than it would be.
MemoryCache& cpu_cache() {
    static auto& cache = *new MemoryCache(Device{});
    return cache;
}

/// Never destroyed: at the end of the process the driver may be gone before them.
struct CudaCaches {
    std::mutex mutex;
    std::map<int, std::unique_ptr<MemoryCache>> caches;
};
CudaCaches& cuda_caches() {
    static auto* all = [] {
        use_cache_for_workspaces();  // before anything on a GPU can need some
        return new CudaCaches;
    }();
    return *all;
}

/// The present caches, to be used without the lock: a cache is never destroyed.
std::vector<MemoryCache*> all_cuda_caches() {
    CudaCaches& all = cuda_caches();
    const std::lock_guard lock(all.mutex);
    std::vector<MemoryCache*> out;
    for (const auto& [index, cache] : all.caches) out.push_back(cache.get());
    return out;
}

}  // namespace

bool is_recorded_on(const Device& device) {
    return device.kind == Device::Kind::cuda && kernels::cuda::recording(device.index);
}

std::size_t size_class(std::size_t bytes) {
    if (bytes <= 256) return (bytes + 63) / 64 * 64;
    // No machine has this; rounding it up could wrap around to a size that there is.
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max()) return bytes;
    const std::size_t step = std::bit_floor(bytes) / 4;
    return (bytes + step - 1) / step * step;
}

std::size_t block_size(std::size_t bytes, const Device& device) {
    if (bytes < HostHeap::least || device.kind != Device::Kind::cpu ||
        bytes > std::numeric_limits<std::ptrdiff_t>::max())
        return size_class(bytes);
    return (bytes + HostHeap::page - 1) / HostHeap::page * HostHeap::page;
}

MemoryCache::MemoryCache(const Device& device) : device_(device), limit_(memory_of(device)) {}

void* MemoryCache::allocate(std::size_t size) {
    if (!is_in_heap(size)) {
        if (void* data = take(size)) return data;
    }
    const std::size_t before = released_;
    try {
        return take_from_system(size);
    } catch (const kernels::OutOfMemory&) {
        release();  // or waits for another thread's
        if (released_ == before && !take_back(size)) throw;
    }
    while (true) {
        try {
            return take_from_system(size);
        } catch (const kernels::OutOfMemory&) {
            if (!take_back(size)) throw;
        }
    }
}

/// Asks for room for a block that can fit at all; what belongs to the present run first. No lock is
/// held: what is reclaimed comes to this cache.
bool MemoryCache::take_back(std::size_t size) {
    if (size > limit_) return false;
    const auto own = accounting_of_thread();
    const bool gave = own && reclaim(device_, own.get());
    if (!gave && !reclaim(device_)) return false;
    release();
    return true;
}

/// Up to 256 bytes there is a class every 64; beyond, the two bits below a size's highest one say
/// which of its octave's four classes it is.
std::size_t MemoryCache::index_of(std::size_t size) {
    if (size <= 256) return size / 64;
    const auto width = static_cast<std::size_t>(std::bit_width(size));
    return 4 * width + (size >> (width - 3)) % 4;
}

std::size_t MemoryCache::size_of_index(std::size_t index) {
    if (index <= 4) return 64 * index;
    return (4 + index % 4) << (index / 4 - 3);
}

void MemoryCache::give(void* data, std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (is_in_heap(size))
        heap_.give(data, size);
    else
        free_[index_of(size)].push_back(data);
    cached_ += size;
}

std::size_t MemoryCache::release() {
    if (is_recorded_on(device_)) return 0;
    const std::lock_guard others_wait(releasing_);
    Blocks leaving;
    {
        const std::lock_guard lock(mutex_);
        leaving.swap(free_);
    }
    std::size_t bytes = release_heap();
    for (std::size_t index = 0; index < leaving.size(); ++index) {
        if (leaving[index].empty()) continue;  // some are the index of no size
        const std::size_t size = size_of_index(index);
        for (void* data : leaving[index]) {
            give_memory(data, device_);
            const std::lock_guard lock(mutex_);
            held_ -= size;
            cached_ -= size;
            bytes += size;
        }
    }
    released_ += bytes;
    return bytes;
}

std::size_t MemoryCache::release_heap() {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = heap_.release();
    held_ -= bytes;
    cached_ -= bytes;
    return bytes;
}

std::size_t MemoryCache::in_use() {
    const std::lock_guard lock(mutex_);
    return held_ - cached_;
}

void* MemoryCache::take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& blocks = free_[index_of(size)];
    if (blocks.empty()) return nullptr;
    void* data = blocks.back();
    blocks.pop_back();
    cached_ -= size;
    return data;
}

/// Linux overcommits memory and kills the process that touches it. So an allocation that does not
/// fit beside the present blocks fails here, where the caller can still act on it.
void MemoryCache::hold(std::size_t bytes) {
    const std::size_t limit = limit_;
    const std::size_t before = held_.fetch_add(bytes);
    if (bytes <= limit && before <= limit - bytes) return;
    held_ -= bytes;
    throw kernels::OutOfMemory(bytes);
}

void* MemoryCache::take_from_system(std::size_t size) {
    if (is_in_heap(size)) return take_from_heap(size);
    hold(size);
    try {
        return take_memory(size, device_);
    } catch (...) {
        held_ -= size;
        throw;
    }
}

/// A place among what was freed, with new memory behind it where that is too short.
void* MemoryCache::take_from_heap(std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (size > limit_) throw kernels::OutOfMemory(size);
    const HostHeap::Place place = heap_.find(size);
    try {
        check_system_has(size, place.fresh);
        hold(place.fresh);
    } catch (const kernels::OutOfMemory&) {
        throw kernels::OutOfMemory(size);
    }
    void* data = nullptr;
    try {
        data = heap_.take(place);
    } catch (...) {
        held_ -= place.fresh;
        throw;
    }
    cached_ -= size - place.fresh;
    return data;
}

MemoryCache& memory_cache(const Device& device) {
    if (device.kind == Device::Kind::cpu) return cpu_cache();
    CudaCaches& all = cuda_caches();
    const std::lock_guard lock(all.mutex);
    auto& cache = all.caches[device.index];
    if (!cache) cache = std::make_unique<MemoryCache>(device);
    return *cache;
}

std::size_t memory_limit(const Device& device) { return memory_cache(device).limit(); }
std::size_t set_memory_limit(std::size_t bytes, const Device& device) {
    return memory_cache(device).set_limit(bytes);
}
std::size_t memory_in_use(const Device& device) { return memory_cache(device).in_use(); }

std::size_t release_cached_memory() {
    release_unused_looks();
    std::size_t bytes = cpu_cache().release();
    for (MemoryCache* cache : all_cuda_caches()) bytes += cache->release();
    return bytes;
}

}  // namespace engine
