#pragma once

#include "cuda/launch.cuh"

/// Combining a value of each thread of a warp or of a block. The order is a fixed tree, so that the
/// same values give the same result in every run.
namespace kernels::cuda {

constexpr unsigned whole_warp = 0xffffffffu;

struct Sum {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

/// Every lane of a whole warp gets the result.
template <typename T, typename Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine) {
    for (int bits = warp_size / 2; bits > 0; bits /= 2)
        value = combine(value, __shfl_xor_sync(whole_warp, value, bits));
    return value;
}

/// Every thread of the block gets the result. `threads` is blockDim.x, a multiple of 32 up to 1024;
/// all threads call. T is 4 or 8 bytes. May be called again at once.
template <int threads, typename T, typename Combine>
__device__ __forceinline__ T block_reduce(T value, Combine combine) {
    static_assert(threads % warp_size == 0 && threads <= 1024);
    constexpr int warps = threads / warp_size;
    value = warp_reduce(value, combine);
    if constexpr (warps == 1) {
        return value;
    } else {
        __shared__ T of_warp[warps];
        const int warp = static_cast<int>(threadIdx.x) / warp_size;
        if (threadIdx.x % warp_size == 0) of_warp[warp] = value;
        __syncthreads();
        T all = of_warp[0];
        for (int i = 1; i < warps; ++i) all = combine(all, of_warp[i]);
        __syncthreads();  // the next call writes of_warp again
        return all;
    }
}

}  // namespace kernels::cuda
