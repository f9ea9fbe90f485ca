#pragma once

#include <functional>

#include "simt/device.h"
#include "simt/language.h"

namespace kernels::simt {

/// Runs a kernel: `body` once for each thread of each block. Throws std::logic_error for a barrier
/// that some threads of the block or warp never reach.
void run_grid(const char* name, const Extent& extent, ThreadOrder order,
              const std::function<void()>& body);

}  // namespace kernels::simt
