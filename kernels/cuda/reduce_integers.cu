#include "shared/reduce_integers.h"

#include "cuda/block_reduce.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/reduce.cuh"

namespace kernels::cuda {
namespace {

/// A block for each result.
__global__ void integer_block_kernel(std::int64_t* y, const std::int64_t* x, std::int64_t n,
                                     std::int64_t inner, std::int64_t results, ReduceOp op) {
    for (std::int64_t i = blockIdx.x; i < results; i += gridDim.x) {
        const std::int64_t* column = x + i / inner * n * inner + i % inner;
        std::int64_t value = integer::neutral(op);
        for (std::int64_t k = threadIdx.x; k < n; k += reduce_threads)
            value = integer::joined(op, value, column[k * inner]);
        value = block_reduce<reduce_threads>(
            value, [op](std::int64_t a, std::int64_t b) { return integer::joined(op, a, b); });
        if (threadIdx.x == 0) y[i] = value;
    }
}

/// A thread for each result.
__global__ void integer_thread_kernel(std::int64_t* y, const std::int64_t* x, std::int64_t n,
                                      std::int64_t inner, std::int64_t results, ReduceOp op) {
    for (std::int64_t i = grid_thread(); i < results; i += grid_threads()) {
        const std::int64_t* column = x + i / inner * n * inner + i % inner;
        std::int64_t value = integer::neutral(op);
        for (std::int64_t k = 0; k < n; ++k)
            value = integer::joined(op, value, column[k * inner]);
        y[i] = value;
    }
}

}  // namespace

void reduce_integers(Array y, ConstArray x, std::int64_t n, std::int64_t inner, ReduceOp op,
                     Stream stream) {
    auto* to = static_cast<std::int64_t*>(y.data);
    const auto* from = static_cast<const std::int64_t*>(x.data);
    if (n <= 64 || y.size >= 16384)
        launch("reduce", integer_thread_kernel, grid_for(y.size), stream, to, from, n, inner,
               y.size, op);
    else
        launch("reduce", integer_block_kernel, reduce_grid(y.size), stream, to, from, n, inner,
               y.size, op);
}

}  // namespace kernels::cuda
