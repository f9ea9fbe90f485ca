#include "cuda/workspace.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

void* take_plainly(std::size_t bytes, int /*device: the current one*/) { return allocate(bytes); }
void give_plainly(void* data, std::size_t /*bytes*/, int /*device*/) { release(data); }

struct Scratch {
    void* data = nullptr;
    std::size_t bytes = 0;
    int device = 0;
    void (*give)(void*, std::size_t, int) = nullptr;
};

struct Workspaces {
    std::mutex mutex;
    std::map<std::pair<int, void*>, Scratch> newest;  // by device and stream
    std::vector<Scratch> all;
    ScratchSource source{take_plainly, give_plainly};
    void (*give_back)(int) = nullptr;
};
Workspaces& workspaces() {
    static auto* only = new Workspaces;  // the driver takes the memory back at exit
    return *only;
}

Scratch take(const ScratchSource& source, std::size_t wanted, std::size_t needed) {
    const int device = current_device();
    try {
        return {source.take(wanted, device), wanted, device, source.give};
    } catch (const OutOfMemory&) {
        if (needed >= wanted) throw;
    }
    return {source.take(needed, device), needed, device, source.give};
}

}  // namespace

void* workspace(std::size_t bytes, Stream stream) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    Scratch& scratch = w.newest[{current_device(), stream.handle}];
    if (scratch.bytes < bytes || !scratch.data) {
        // At least twice the last, if that is to be had: all of a stream's together are then less
        // than twice what is used.
        scratch = take(w.source, std::max({bytes, least_workspace, 2 * scratch.bytes}), bytes);
        w.all.push_back(scratch);
    }
    return scratch.data;
}

void set_scratch_source(const ScratchSource& source) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    w.source = source;
}

void set_memory_giver(void (*give_back)(int device)) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    w.give_back = give_back;
}

void give_memory_back() {
    Workspaces& w = workspaces();
    std::unique_lock lock(w.mutex);
    const auto give_back = w.give_back;
    lock.unlock();
    if (give_back) give_back(current_device());
}

PassingScratch::PassingScratch(std::size_t bytes) : bytes_(bytes), device_(current_device()) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    data_ = w.source.take(bytes, device_);
    give_ = w.source.give;
}
PassingScratch::~PassingScratch() { give_(data_, bytes_, device_); }

std::int64_t workspace_bytes() noexcept {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    std::int64_t sum = 0;
    for (const Scratch& scratch : w.all) sum += static_cast<std::int64_t>(scratch.bytes);
    return sum;
}

void release_workspaces() noexcept {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    for (const Scratch& scratch : w.all) scratch.give(scratch.data, scratch.bytes, scratch.device);
    w.all.clear();
    w.newest.clear();
}

}  // namespace kernels::cuda
