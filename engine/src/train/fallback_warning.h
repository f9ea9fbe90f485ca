#pragma once

#include "engine/message.h"
#include "kernels/library_fallback.h"

namespace engine {

/// What the GPU's library does not compute, for whoever trains: its shape, type and pass, and what
/// to change or, where the library failed, its words.
Message tell(const kernels::LibraryFallback& fallback);

}  // namespace engine
