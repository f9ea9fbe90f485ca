#pragma once

#include <cstddef>

namespace kernels::simt {

/// The body of a kernel of one block that is compiled as the CUDA kernels are, each access judged:
/// every thread writes a float of `memory` and reads its neighbour's, with a barrier between or
/// not.
void read_neighbours(std::byte* memory, bool barrier);

}  // namespace kernels::simt
