#pragma once

#include <memory>

#include "core/memory.h"
#include "kernels/device_error.h"

/// The scratch of the GPU's libraries (matrix products, convolutions): one for all runs of a
/// device, kept as long as there is one.
namespace engine {

/// From now on it is taken from the devices' caches, so that blocks kept for reuse go back before
/// it fails, and that it counts against the limit. Those blocks go back too where a library finds
/// no memory of its own for a plan.
void use_cache_for_library_scratch();

/// A run's part in it. While the object lives it stands in `books` under workspace, all that there
/// is and what is added: every run on the device needs it, whichever was the first to ask. With the
/// last object of a device it goes back there, and with it what is kept for reuse. Nothing on the
/// CPU.
class LibraryScratchUse {
public:
    LibraryScratchUse(std::shared_ptr<MemoryBooks> books, const Device& device);
    ~LibraryScratchUse();
    LibraryScratchUse(const LibraryScratchUse&) = delete;
    LibraryScratchUse& operator=(const LibraryScratchUse&) = delete;

private:
    std::shared_ptr<MemoryBooks> books_;
    Device device_;
};

/// What is said when an allocation, or a library for its own use, found no memory on the device;
/// books may be null.
Message out_of_memory(const kernels::OutOfMemory& error, const MemoryBooks* books,
                      const Device& device);

}  // namespace engine
