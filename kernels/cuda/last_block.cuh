#pragma once

#include "cuda/launch.cuh"
#include "cuda/pack.cuh"
#include "cuda/workspace.h"

/// The last block of a launch to finish goes on with what all of them have left in memory, instead
/// of a second launch. Which block that is differs from run to run; what it computes must not, so
/// it takes the blocks' results in the order of their numbers.
namespace kernels::cuda {

/// `finished`: a word of finish_counts(). Whether the other `blocks` - 1 of the group have come
/// here before: for all threads of the last one, which may read what the others wrote (by
/// `load_pack_of_others`). All threads of each block call, once in a launch.
__device__ __forceinline__ bool is_last_block(unsigned* finished, unsigned blocks) {
    __shared__ int last;
    __threadfence();  // the thread's results are in memory before the block counts as finished
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(finished, 1u) == blocks - 1 ? 1 : 0;
        if (last != 0) atomicExch(finished, 0u);
        __threadfence();
    }
    __syncthreads();
    return last != 0;
}

/// A pack that another block of the launch has written. The cache of the multiprocessor, which may
/// hold what was there before, is passed by.
template <int width, typename T>
__device__ __forceinline__ Pack<T, width> load_pack_of_others(const T* from) {
#ifdef __CUDA_ARCH__
    constexpr std::size_t bytes = sizeof(Pack<T, width>);
    using Word = std::conditional_t<bytes % 16 == 0, uint4,
                                    std::conditional_t<bytes % 8 == 0, uint2, unsigned>>;
    static_assert(bytes % sizeof(Word) == 0);
    struct Words {
        Word at[bytes / sizeof(Word)];
    } words;
    for (std::size_t i = 0; i < bytes / sizeof(Word); ++i)
        words.at[i] = __ldcg(reinterpret_cast<const Word*>(from) + i);
    return std::bit_cast<Pack<T, width>>(words);
#else
    return load_pack<width>(from);
#endif
}

}  // namespace kernels::cuda
