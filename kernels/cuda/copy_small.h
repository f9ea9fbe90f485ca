#pragma once

#include <cstddef>

#include "kernels/array.h"

namespace kernels::cuda {

/// Up to so many bytes a kernel of our own copies within a device: a recorded copy of the run
/// time's is estimated to take 3 to 4 us whatever its size, a kernel 2.
constexpr std::size_t most_small_copy = std::size_t{1} << 20;
/// The memories do not overlap.
void copy_small(void* to, const void* from, std::size_t bytes, Stream stream);

}  // namespace kernels::cuda
