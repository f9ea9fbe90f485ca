#pragma once

#include "amp/dispatch.h"
#include "tensor/observer.h"

namespace engine {

/// Whether somebody observes operations of this thread, or forces their types. Two of them are
/// computed as one only where nobody can tell.
inline bool is_watched() noexcept { return detail::observed || detail::intercepting; }

}  // namespace engine
