#pragma once

#include <cstddef>

#include "kernels/array.h"

namespace kernels::cuda {

/// The largest recorded copy, in bytes, that a kernel of our own does. By estimate a copy node
/// takes 3 to 4 us for any size, and a kernel node 2 us.
constexpr std::size_t max_small_copy = std::size_t{1} << 20;
/// The memories do not overlap.
void copy_small(void* to, const void* from, std::size_t bytes, Stream stream);

}  // namespace kernels::cuda
