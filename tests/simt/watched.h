#pragma once

#include <cstddef>

namespace kernels::simt {

/// The body of a kernel of one block, compiled as the CUDA kernels are, with each access checked:
/// every thread writes a float of `memory` and reads its neighbour's, with a barrier between or
/// without.
void read_neighbours(std::byte* memory, bool barrier);

}  // namespace kernels::simt
