#pragma once

#include "engine/base/message.h"
#include "kernels/library_fallback.h"

namespace engine {

/// A message for the user on what the GPU's library does not compute: its shape, type and pass, and
/// what to change or, if the library failed, its message.
Message tell(const kernels::LibraryFallback& fallback);

}  // namespace engine
