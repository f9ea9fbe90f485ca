#include "core/library_scratch.h"

#include <map>
#include <mutex>
#include <vector>

#include "core/memory_cache.h"
#include "kernels/cuda_libraries.h"

namespace engine {
namespace {

/// The scratch of one device's libraries, and the accounts that it is part of.
struct Scratch {
    std::int64_t bytes = 0;
    std::vector<std::weak_ptr<MemoryBooks>> books;
};
struct Scratches {
    std::mutex mutex;
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
    for (const auto& known : scratch.books) {
        if (const auto books = known.lock()) books->add(MemoryUse::workspace, bytes);
    }
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

}  // namespace

void use_cache_for_library_scratch() {
    // The first request for scratch can create the first cache, whose constructor calls this while
    // the scratch's lock is held.
    static std::once_flag once;
    std::call_once(once, [] {
        kernels::cuda::set_memory_giver([](int device) {
            memory_cache({Device::Kind::cuda, device}).release();
        });
        // Last: from here on another thread may hold that lock and wait for the caches.
        kernels::cuda::set_scratch_source({take, give});
    });
}

void book_library_scratch(const std::shared_ptr<MemoryBooks>& books, const Device& device) {
    if (device.kind == Device::Kind::cpu) return;
    Scratches& all = scratches();
    const std::lock_guard lock(all.mutex);
    Scratch& scratch = all.by_device[device.index];
    std::erase_if(scratch.books, [](const auto& known) { return known.expired(); });
    scratch.books.push_back(books);
    books->add(MemoryUse::workspace, scratch.bytes);
}

Message out_of_memory(const kernels::OutOfMemory& error, const MemoryBooks* books,
                      const Device& device) {
    if (!dynamic_cast<const kernels::cuda::LibraryOutOfMemory*>(&error))
        return out_of_memory(error.bytes, books, device);
    return msg("The GPU's library finds no memory ({}); in use: {}.", error.what(),
               books ? split(*books, device) : std::string("unknown"));
}

}  // namespace engine
