#pragma once

#include <memory>

#include "core/memory.h"
#include "kernels/device_error.h"

/// The scratch of the GPU's libraries (matrix products, convolutions): one for all runs of a
/// device, kept until the process ends.
namespace engine {

/// From now on, library scratch comes from the devices' caches. So it counts against the memory
/// limit, and cached blocks are released before an allocation fails. They are also released when a
/// library has no memory of its own for a plan.
void use_cache_for_library_scratch();

/// From now on, all scratch of the device, present and future, is accounted under workspace in
/// `books`. Every run on the device needs it, so it counts for each of them. Does nothing on the
/// CPU.
void book_library_scratch(const std::shared_ptr<MemoryBooks>& books, const Device& device);

/// The message for a failed allocation on the device, by this program or by a library. books may be
/// null.
Message out_of_memory(const kernels::OutOfMemory& error, const MemoryBooks* books,
                      const Device& device);

}  // namespace engine
