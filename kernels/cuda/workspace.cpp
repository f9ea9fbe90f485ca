#include "cuda/workspace.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cuda/recording.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

void* allocate_default(std::size_t bytes, int /*device: the current one*/) {
    return allocate(bytes);
}
void free_default(void* data, std::size_t /*bytes*/, int /*device*/) { release(data); }

std::atomic<std::int64_t> bytes_held{0};

/// The scratch of a stream. Returned to its source when neither the stream nor a captured graph
/// holds it any more.
class Scratch {
public:
    Scratch(const WorkspaceAllocator& source, std::size_t bytes, int device)
        : data_(source.take(bytes, device)), bytes_(bytes), device_(device), give_(source.give) {
        bytes_held += static_cast<std::int64_t>(bytes_);
    }
    ~Scratch() {
        bytes_held -= static_cast<std::int64_t>(bytes_);
        give_(data_, bytes_, device_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    void* data_;
    std::size_t bytes_;
    int device_;
    void (*give_)(void*, std::size_t, int);
};
using SharedScratch = std::shared_ptr<const Scratch>;

struct Workspaces {
    std::mutex mutex;
    std::map<std::pair<int, void*>, SharedScratch> newest;  // by device and stream
    std::map<std::pair<int, void*>, SharedScratch> counts;  // of blocks, likewise
    WorkspaceAllocator source{allocate_default, free_default};
    void (*give_back)(int) = nullptr;
};
Workspaces& workspaces() {
    static auto* only = new Workspaces;  // the driver takes the memory back at exit
    return *only;
}

/// `wanted` bytes, or `needed` bytes if the device has no room for more.
SharedScratch take(const WorkspaceAllocator& source, std::size_t wanted, std::size_t needed) {
    const int device = current_device();
    try {
        return std::make_shared<const Scratch>(source, wanted, device);
    } catch (const OutOfMemory&) {
        if (needed >= wanted) throw;
    }
    return std::make_shared<const Scratch>(source, needed, device);
}

/// Releases the scratch of the streams of every device for which f is true.
template <typename F>
void release_if(const F& f) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    for (auto* kept : {&w.newest, &w.counts})
        std::erase_if(*kept, [&](const auto& entry) { return f(entry.first.first); });
}

}  // namespace

void* workspace(std::size_t bytes, Stream stream) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    SharedScratch& scratch = w.newest[{current_device(), stream.handle}];
    if (!scratch || scratch->bytes() < bytes) {
        // Releases the outgrown scratch first, to leave room. Work on the stream is in order, so
        // its next user comes after the present one. Not so in a capture, which keeps it.
        if (scratch) keep_if_recorded(scratch, stream);
        scratch.reset();
        scratch = take(w.source, std::max(bytes, min_workspace), bytes);
    }
    keep_if_recorded(scratch, stream);
    return scratch->data();
}

unsigned* finish_counts(Stream stream) {
    constexpr auto bytes = static_cast<std::size_t>(max_finish_counts) * sizeof(unsigned);
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    const auto found = w.counts.find({current_device(), stream.handle});
    SharedScratch counts = found != w.counts.end() ? found->second : nullptr;
    if (!counts) {
        counts = take(w.source, bytes, bytes);
        set_zero(counts->data(), bytes, stream);
        // A fill that is recorded has not run: such words are there for the graph alone.
        if (!capturing(stream)) w.counts[{current_device(), stream.handle}] = counts;
    }
    keep_if_recorded(counts, stream);
    return static_cast<unsigned*>(counts->data());
}

void set_workspace_allocator(const WorkspaceAllocator& source) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    w.source = source;
}

void set_cache_trimmer(void (*give_back)(int device)) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    w.give_back = give_back;
}

void trim_caches() {
    Workspaces& w = workspaces();
    std::unique_lock lock(w.mutex);
    const auto give_back = w.give_back;
    lock.unlock();
    if (give_back) give_back(current_device());
}

ScopedWorkspace::ScopedWorkspace(std::size_t bytes) : bytes_(bytes), device_(current_device()) {
    Workspaces& w = workspaces();
    const std::lock_guard lock(w.mutex);
    data_ = w.source.take(bytes, device_);
    give_ = w.source.give;
}
ScopedWorkspace::~ScopedWorkspace() { give_(data_, bytes_, device_); }

std::int64_t workspace_bytes() noexcept { return bytes_held; }

void release_workspaces() noexcept {
    release_if([](int) { return true; });
}
void release_workspaces_of(int device) noexcept {
    release_if([device](int of) { return of == device; });
}

}  // namespace kernels::cuda
