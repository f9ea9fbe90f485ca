#pragma once

#include <memory>

#include "core/memory.h"
#include "kernels/device_error.h"

/// The scratch of the GPU's libraries (matrix products, convolutions): one for all runs of a
/// device, kept until the process ends.
namespace engine {

/// From now on it is taken from the devices' caches, so that blocks kept for reuse go back before
/// it fails, and that it counts against the limit. Those blocks go back too where a library finds
/// no memory of its own for a plan.
void use_cache_for_library_scratch();

/// It stands in `books` under workspace from now on, all that there is and what is added: every run
/// on the device needs it, whichever was the first to ask. Nothing on the CPU.
void book_library_scratch(const std::shared_ptr<MemoryBooks>& books, const Device& device);

/// What is said when an allocation, or a library for its own use, found no memory on the device;
/// books may be null.
Message out_of_memory(const kernels::OutOfMemory& error, const MemoryBooks* books,
                      const Device& device);

}  // namespace engine
