#pragma once

#include <cstddef>

namespace kernels::simt {

/// The body of a kernel of one block, compiled like the CUDA kernels, with each access checked:
/// every thread writes a float of `memory` and reads its neighbour's, with or without a barrier in
/// between.
void read_neighbours(std::byte* memory, bool barrier);

/// How a block hands its numbers over to the last one to finish.
enum class HandingOver {
    whole,      ///< as `is_last_block` does
    unfenced,   ///< without a fence
    too_early,  ///< counts itself before it has written
    by_number,  ///< the last block is the one with the highest number
};
/// Every block leaves blockDim.x numbers, which it passes through shared memory; the last one
/// writes their sums over the blocks to `out`.
void sum_in_the_last_block(float* out, float* parts, unsigned* finished, HandingOver how);

}  // namespace kernels::simt
