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

struct Scratch {
    void* data = nullptr;
    std::size_t bytes = 0;
};

struct Workspaces {
    std::mutex mutex;
    std::map<std::pair<int, void*>, Scratch> newest;  // by device and stream
    std::vector<Scratch> all;
};
Workspaces& workspaces() {
    static auto* only = new Workspaces;  // the driver takes the memory back at exit
    return *only;
}

Scratch take(std::size_t wanted, std::size_t needed) {
    try {
        return {allocate(wanted), wanted};
    } catch (const OutOfMemory&) {
        if (needed >= wanted) throw;
    }
    return {allocate(needed), needed};
}

}  // namespace

void* workspace(std::size_t bytes, Stream stream) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    Scratch& scratch = w.newest[{current_device(), stream.handle}];
    if (scratch.bytes < bytes || !scratch.data) {
        // At least twice the last, if that is to be had: all of a stream's together are then less
        // than twice what is used.
        scratch = take(std::max({bytes, least_workspace, 2 * scratch.bytes}), bytes);
        w.all.push_back(scratch);
    }
    return scratch.data;
}

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
    for (const Scratch& scratch : w.all) release(scratch.data);
    w.all.clear();
    w.newest.clear();
}

}  // namespace kernels::cuda
