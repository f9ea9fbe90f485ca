#include <algorithm>
#include <cstring>

#include "cuda/copy_small.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/deferred_error.h"
#include "kernels/device_error.h"
#include "simt/simulation.h"
#include "simt/work_counts.h"

// Memory of the simulated device, and copies.

namespace kernels::cuda {

using namespace kernels::simt;

namespace {

bool is_pinned(const void* data) {
    const auto& sizes = simulation().pinned_sizes;
    const auto after = sizes.upper_bound(const_cast<void*>(data));
    if (after == sizes.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return static_cast<const std::byte*>(data) < static_cast<const std::byte*>(start) + size;
}

/// Puts a copy or a fill on the stream.
template <typename Work>
void put_counted(Stream stream, const char* name, std::size_t read, std::size_t written,
                 Work work) {
    put(stream, [=] {
        count_run(name);
        count_bytes(name, static_cast<std::int64_t>(read), static_cast<std::int64_t>(written));
        work();
    });
}

void require_device(const void* data, std::size_t bytes, const char* call) {
    if (bytes == 0) return;
    const auto& heaps = simulation().heaps;
    if (std::none_of(heaps.begin(), heaps.end(),
                     [&](const auto& h) { return h.second.holds(data); }))
        throw DeviceError(std::string(call) + ": invalid argument (not device memory)");
}

}  // namespace

void* allocate(std::size_t bytes) {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaMalloc");
    const int device = use_device();
    std::int64_t in_use = 0;
    for (const auto& [data, owner] : s.owners)
        in_use += owner.first == device ? static_cast<std::int64_t>(owner.second) : 0;
    if (s.allocation_failures.next() ||
        static_cast<std::int64_t>(bytes) > s.settings.memory_bytes - in_use)
        throw OutOfMemory(bytes);
    void* data = s.heaps[device].take(std::max<std::size_t>(bytes, 1));
    s.owners[data] = {device, bytes};
    ++s.counts.allocations;
    return data;
}

void release(void* data) noexcept {
    if (!data) return;
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    ++s.counts.synchronizations;
    finish_all(s.owners.at(data).first);
    const auto owner = s.owners.find(data);
    s.heaps[owner->second.first].give(data);
    s.owners.erase(owner);
}

DeferredError* deferred_error_word() {
    static std::map<int, DeferredError*> words;
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaGetSymbolAddress");
    const int device = use_device();
    DeferredError*& word = words[device];
    if (!word) {
        Heap& heap = s.heaps[device];
        word = static_cast<DeferredError*>(heap.take(sizeof(DeferredError)));
        const Access open(heap);
        *word = 0;
    }
    return word;
}

void* allocate_pinned(std::size_t bytes) {
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    check("cudaHostAlloc");
    use_device();
    if (s.pinned_failures.next()) throw OutOfMemory(bytes);
    auto memory = std::make_unique<std::byte[]>(bytes);
    void* data = memory.get();
    s.pinned[data] = std::move(memory);
    s.pinned_sizes[data] = bytes;
    return data;
}

void release_pinned(void* data) noexcept {
    if (!data) return;
    Simulation& s = simulation();
    const Lock lock(s.mutex);
    finish_all(use_device());
    s.pinned.erase(data);
    s.pinned_sizes.erase(data);
}

void copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyAsync");
    require_device(device, bytes, "cudaMemcpyAsync");
    if (is_pinned(host)) {
        put_counted(stream, "copy", 0, bytes, [=] { std::memcpy(device, host, bytes); });
        return;
    }
    refuse_while_recording(queue_of(stream), "cudaMemcpyAsync");
    if (bytes > 0) ++simulation().counts.synchronizations;  // the real one may wait
    const auto* from = static_cast<const std::byte*>(host);
    auto taken = std::make_shared<std::vector<std::byte>>(from, from + bytes);
    put_counted(stream, "copy", 0, bytes, [device, taken] {
        std::copy(taken->begin(), taken->end(), static_cast<std::byte*>(device));  // bytes may be 0
    });
}

void copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream) {
    bool waits = false;
    {
        const Lock lock(simulation().mutex);
        check("cudaMemcpyAsync");
        require_device(device, bytes, "cudaMemcpyAsync");
        put_counted(stream, "copy", bytes, 0, [=] { std::memcpy(host, device, bytes); });
        waits = !is_pinned(host);
    }
    if (waits) synchronize(stream);
}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyAsync");
    require_device(to, bytes, "cudaMemcpyAsync");
    require_device(from, bytes, "cudaMemcpyAsync");
    if (bytes <= max_small_copy && capturing(stream))
        copy_small(to, from, bytes, stream);
    else
        put_counted(stream, "copy", bytes, bytes, [=] { std::memmove(to, from, bytes); });
}

void copy_between_devices(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemcpyPeerAsync");
    const auto owned = [&](const void* data, int device) {
        const auto heap = simulation().heaps.find(device);
        return heap != simulation().heaps.end() && heap->second.holds(data);
    };
    if (bytes > 0 && !(owned(to, to_device) && owned(from, from_device)))
        throw DeviceError("cudaMemcpyPeerAsync: invalid argument (not that device's memory)");
    put_counted(stream, "copy", bytes, bytes, [=] {
        const Access target(simulation().heaps[to_device]), source(simulation().heaps[from_device]);
        std::memcpy(to, from, bytes);
    });
}

void set_zero(void* device, std::size_t bytes, Stream stream) {
    const Lock lock(simulation().mutex);
    check("cudaMemsetAsync");
    require_device(device, bytes, "cudaMemsetAsync");
    put_counted(stream, "fill", 0, bytes, [=] { std::memset(device, 0, bytes); });
}

}  // namespace kernels::cuda
