#pragma once

#include <cstddef>

namespace kernels::simt {

/// The body of a kernel of one block, compiled like the CUDA kernels, with each access checked:
/// every thread writes a float of `memory` and reads its neighbour's, with or without a barrier in
/// between.
void read_neighbours(std::byte* memory, bool barrier);

}  // namespace kernels::simt
