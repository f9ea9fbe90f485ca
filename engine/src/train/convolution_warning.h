#pragma once

#include "engine/message.h"
#include "kernels/conv2d_fallback.h"

namespace engine {

/// A convolution that falls back to plain loops, for whoever trains: its shape, type and pass, and
/// what to change.
Message tell(const kernels::Conv2dFallback& fallback);

}  // namespace engine
