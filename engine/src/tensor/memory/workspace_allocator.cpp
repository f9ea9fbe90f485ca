#include "tensor/memory/workspace_allocator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cuda_libraries.h"
#include "tensor/memory/memory_cache.h"
#include "tensor/memory/reclaimable_cache.h"

namespace engine {
namespace {

/// The scratch of one device's libraries, and the accounts that it is part of.
struct Scratch {
    std::int64_t bytes = 0;
    std::vector<std::shared_ptr<MemoryAccounting>> accounting;
};
struct Scratches {
    std::mutex runs;   // locked before `mutex`: a new run waits until the last one has released
    std::mutex mutex;  // guards the members below
    std::map<int, Scratch> by_device;
};
Scratches& scratches() {
    static auto* only = new Scratches;  // as the caches, to the end of the process
    return *only;
}

void add(int device, std::int64_t bytes) {
    Scratches& all = scratches();
    const std::lock_guard lock(all.mutex);
    Scratch& scratch = all.by_device[device];
    scratch.bytes += bytes;
    for (const auto& accounting : scratch.accounting) accounting->add(MemoryUse::workspace, bytes);
}

void* take(std::size_t bytes, int device) {
    const std::size_t size = size_class(bytes);
    void* data = memory_cache({Device::Kind::cuda, device}).allocate(size);
    add(device, static_cast<std::int64_t>(size));
    return data;
}

void give(void* data, std::size_t bytes, int device) {
    const std::size_t size = size_class(bytes);
    memory_cache({Device::Kind::cuda, device}).give(data, size);
    add(device, -static_cast<std::int64_t>(size));
}

/// Removes a run's account; whether it was the last one on the device.
bool leave(int device, const std::shared_ptr<MemoryAccounting>& accounting) {
    Scratches& all = scratches();
    const std::lock_guard lock(all.mutex);
    Scratch& scratch = all.by_device[device];
    scratch.accounting.erase(
        std::find(scratch.accounting.begin(), scratch.accounting.end(), accounting));
    accounting->add(MemoryUse::workspace, -scratch.bytes);
    return scratch.accounting.empty();
}

}  // namespace

void use_cache_for_workspaces() {
    // The first request for scratch can create the first cache, whose constructor calls this while
    // the scratch's lock is held.
    static std::once_flag once;
    std::call_once(once, [] {
        kernels::cuda::set_cache_trimmer([](int device) {
            const Device gpu{Device::Kind::cuda, device};
            while (reclaim(gpu)) {  // all of it: the library tries only once more
            }
            memory_cache(gpu).release();
        });
        // Last: from here on another thread may hold that lock and wait for the caches.
        kernels::cuda::set_workspace_allocator({take, give});
    });
}

WorkspaceShare::WorkspaceShare(std::shared_ptr<MemoryAccounting> accounting,
                                     const Device& device)
    : accounting_(std::move(accounting)), device_(device) {
    if (device_.kind == Device::Kind::cpu) return;
    Scratches& all = scratches();
    const std::lock_guard no_other(all.runs);
    const std::lock_guard lock(all.mutex);
    Scratch& scratch = all.by_device[device_.index];
    scratch.accounting.push_back(accounting_);
    accounting_->add(MemoryUse::workspace, scratch.bytes);
}

WorkspaceShare::~WorkspaceShare() {
    if (device_.kind == Device::Kind::cpu) return;
    const std::lock_guard no_other(scratches().runs);
    if (!leave(device_.index, accounting_)) return;
    kernels::cuda::release_workspaces_of(device_.index);
    memory_cache(device_).release();
}

Message out_of_memory(const kernels::OutOfMemory& error, const MemoryAccounting* accounting,
                      const Device& device) {
    if (!dynamic_cast<const kernels::cuda::LibraryOutOfMemory*>(&error))
        return out_of_memory(error.bytes, accounting, device);
    return msg("A library of the GPU is out of memory ({}); in use: {}.", error.what(),
               accounting ? split(*accounting, device) : std::string("unknown"));
}

}  // namespace engine
