#include <cassert>

#include "cuda/convert.cuh"
#include "cuda/first_largest.cuh"
#include "cuda/grid_stride.cuh"
#include "kernels/reduce.h"

namespace kernels::cuda {
namespace {

constexpr int block_threads = default_threads;

/// Key by which two elements are compared: all of them exactly.
template <typename T>
__device__ __forceinline__ auto comparable(T v) {
    if constexpr (std::is_integral_v<T>)
        return v;
    else
        return widen(v);
}

/// `threads` of them search x[o, :, i] together: 1, a warp, or the block.
template <typename T, int threads>
__global__ void arg_max_kernel(std::int64_t* y, const T* x, std::int64_t n, std::int64_t inner,
                               std::int64_t results) {
    using V = decltype(comparable(T{}));
    constexpr int at_once = block_threads / threads;
    const int thread = static_cast<int>(threadIdx.x) % threads;
    const int unit = static_cast<int>(threadIdx.x) / threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * at_once + unit; i < results;
         i += static_cast<std::int64_t>(gridDim.x) * at_once) {
        const T* column = x + i / inner * n * inner + i % inner;
        Candidate<V> best{V{}, -1};
        for (std::int64_t k = thread; k < n; k += threads)
            best.take({comparable(column[k * inner]), k});
        if constexpr (threads > 1) best.take_from_warp();
        if constexpr (threads > warp_size) {
            __shared__ V values[threads / warp_size];
            __shared__ std::int64_t indices[threads / warp_size];
            if (thread % warp_size == 0) {
                values[thread / warp_size] = best.value;
                indices[thread / warp_size] = best.index;
            }
            __syncthreads();
            if (thread == 0) {
                for (int warp = 1; warp < threads / warp_size; ++warp)
                    best.take({values[warp], indices[warp]});
            }
            __syncthreads();  // the next result writes them again
        }
        if (thread == 0) y[i] = best.index;
    }
}

template <typename T, int threads>
void start(Array y, ConstArray x, std::int64_t n, std::int64_t inner, Stream stream) {
    const Grid grid = grid_for(y.size * threads, 1, block_threads);
    launch("arg_max", arg_max_kernel<T, threads>, grid, stream, static_cast<std::int64_t*>(y.data),
           static_cast<const T*>(x.data), n, inner, y.size);
}

}  // namespace

void arg_max(Array y, ConstArray x, [[maybe_unused]] std::int64_t outer, std::int64_t n,
             std::int64_t inner, Stream stream) {
    assert(y.dtype == DType::i64 && x.size == outer * n * inner && y.size == outer * inner);
    if (n == 0 || y.size == 0) return;
    const bool side_by_side = inner >= 32 && y.size >= 8192;
    with_stored(x.dtype, [&]<typename T>(T) {
        if (n <= 16 || side_by_side)
            start<T, 1>(y, x, n, inner, stream);
        else if (n <= 1024)
            start<T, warp_size>(y, x, n, inner, stream);
        else
            start<T, block_threads>(y, x, n, inner, stream);
    });
}

}  // namespace kernels::cuda
