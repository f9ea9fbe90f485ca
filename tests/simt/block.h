#pragma once

#include <functional>

#include "simt/device.h"
#include "simt/language.h"

namespace kernels::simt {

/// Runs a kernel: `body` once for each thread of each block. Throws std::logic_error for a barrier
/// that some threads of the block or warp never reach.
void run_grid(const char* name, const Extent& extent, ThreadOrder order,
              const std::function<void()>& body);

/// From now on the blocks of a grid do not run one after the other, but some at a time, which take
/// turns from barrier to barrier as a generator with this seed says; 0: one after the other. Call
/// when nothing is queued. Needs the accesses to be watched (HALFTONE_SIMT_WATCH).
void interleave_blocks(unsigned seed);

}  // namespace kernels::simt
