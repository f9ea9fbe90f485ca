#pragma once

#include "cuda/launch.cuh"

namespace kernels::cuda {

/// For loops that a whole one-dimensional grid shares: i = grid_thread(); i < n; i +=
/// grid_threads().
__device__ __forceinline__ std::int64_t grid_thread() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t grid_threads() {
    return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace kernels::cuda
