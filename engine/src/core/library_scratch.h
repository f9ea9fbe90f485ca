#pragma once

#include <memory>

#include "core/memory.h"

/// The scratch of the GPU's libraries (matrix products, convolutions): one for all runs of a
/// device, kept until the process ends.
namespace engine {

/// From now on it is taken from the devices' caches, so that blocks kept for reuse go back before
/// it fails, and that it counts against the limit.
void use_cache_for_library_scratch();

/// It stands in `books` under workspace from now on, all that there is and what is added: every run
/// on the device needs it, whichever was the first to ask. Nothing on the CPU.
void book_library_scratch(const std::shared_ptr<MemoryBooks>& books, const Device& device);

}  // namespace engine
