#include "simt/watched.h"

#include "cuda/last_block.cuh"
#include "simt/language.h"

namespace kernels::simt {

void read_neighbours(std::byte* memory, bool barrier) {
    auto* values = reinterpret_cast<float*>(memory);
    const unsigned i = threadIdx.x;
    values[i] = static_cast<float>(i);
    if (barrier) __syncthreads();
    const float neighbour = values[(i + 1) % blockDim.x];
    __syncthreads();
    values[i] += neighbour;
}

namespace {

/// is_last_block without a fence, or as if there were no others to count.
bool claims_to_be_last(unsigned* finished, HandingOver how) {
    __shared__ int last;
    __syncthreads();
    if (how == HandingOver::by_number) return blockIdx.x + 1 == gridDim.x;
    if (threadIdx.x == 0) {
        last = atomicAdd(finished, 1u) == gridDim.x - 1 ? 1 : 0;
        if (last != 0) atomicExch(finished, 0u);
    }
    __syncthreads();
    return last != 0;
}

}  // namespace

void sum_in_the_last_block(float* out, float* parts, unsigned* finished, HandingOver how) {
    __shared__ float turned[64];
    const unsigned i = threadIdx.x, n = blockDim.x;
    const bool early = how == HandingOver::too_early && cuda::is_last_block(finished, gridDim.x);
    turned[n - 1 - i] = static_cast<float>(blockIdx.x * n + i);
    __syncthreads();
    parts[blockIdx.x * n + i] = turned[i];
    const bool last = how == HandingOver::whole       ? cuda::is_last_block(finished, gridDim.x)
                      : how == HandingOver::too_early ? early
                                                      : claims_to_be_last(finished, how);
    if (!last) return;
    float sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += parts[block * n + n - 1 - i];
    out[i] = sum;
}

}  // namespace kernels::simt
