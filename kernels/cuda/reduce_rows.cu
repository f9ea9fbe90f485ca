#include "cuda/block_reduce.cuh"
#include "cuda/pack.cuh"
#include "cuda/reduce.cuh"

namespace kernels::cuda {
namespace {

/// The part of the n elements at x that one of `threads` neighbours joins.
template <typename Op, typename W, int threads, typename T>
__device__ __forceinline__ W own_part(const T* x, int n, int thread) {
    constexpr int width = pack_width<T>;
    const bool aligned = reinterpret_cast<std::uintptr_t>(x) % alignof(Pack<T, width>) == 0;
    const int packs = aligned ? n / width : 0;
    W value = Op::template neutral<W>();
    for (int i = thread; i < packs; i += threads) {
        const auto pack = load_pack<width>(x + static_cast<std::int64_t>(i) * width);
#pragma unroll
        for (int k = 0; k < width; ++k) value = joined<Op>(value, pack.at[k]);
    }
    for (int i = packs * width + thread; i < n; i += threads) value = joined<Op>(value, x[i]);
    return value;
}

/// A block for each chunk of a row; `rows` elements, at most 128 for each thread.
template <typename Op, typename T, typename W>
__global__ void block_kernel(ReduceTarget y, const T* x, std::int64_t n, std::int64_t rows,
                             std::int64_t chunks, std::int64_t tasks) {
    for (std::int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const std::int64_t begin = task % chunks * rows;
        const int size = static_cast<int>(n - begin < rows ? n - begin : rows);
        const T* part = x + task / chunks * n + begin;
        W value = own_part<Op, W, reduce_threads>(part, size, static_cast<int>(threadIdx.x));
        value = block_reduce<reduce_threads>(value, Op{});
        if (threadIdx.x == 0) y.store(task, value);
    }
}

/// A warp for each row.
template <typename Op, typename T, typename W>
__global__ void warp_kernel(ReduceTarget y, const T* x, std::int64_t n, std::int64_t outer) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    for (std::int64_t row = grid_thread() / warp_size; row < outer;
         row += grid_threads() / warp_size) {
        W value = own_part<Op, W, warp_size>(x + row * n, static_cast<int>(n), lane);
        value = warp_reduce(value, Op{});
        if (lane == 0) y.store(row, value);
    }
}

constexpr std::int64_t max_warp_terms = 1024;

}  // namespace

void reduce_by_row(const ReducePass& pass, Stream stream) {
    const std::int64_t tasks = pass.outer * pass.chunks;
    with_reduction(pass, [&](auto op, auto type, auto wide) {
        using Op = decltype(op);
        using T = decltype(type);
        using W = decltype(wide);
        const auto* x = static_cast<const T*>(pass.x.data);
        if (pass.n <= max_warp_terms)
            launch("reduce", warp_kernel<Op, T, W>, reduce_grid((tasks + 7) / 8), stream, pass.y, x,
                   pass.n, pass.outer);
        else
            launch("reduce", block_kernel<Op, T, W>, reduce_grid(tasks), stream, pass.y, x, pass.n,
                   pass.rows, pass.chunks, tasks);
    });
}

}  // namespace kernels::cuda
