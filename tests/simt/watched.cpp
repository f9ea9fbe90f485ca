#include "simt/watched.h"

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

}  // namespace kernels::simt
