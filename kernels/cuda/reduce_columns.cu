#include "cuda/grid_stride.cuh"
#include "cuda/reduce.cuh"

namespace kernels::cuda {
namespace {

/// A block for up to 32 neighbouring columns of a chunk of rows. Its threads cover as many rows as
/// fit side by side, so that reads stay contiguous even if inner is small.
template <typename Op, typename T, typename W>
__global__ void column_kernel(ReduceTarget y, const T* x, std::int64_t n, std::int64_t inner,
                              std::int64_t rows, std::int64_t chunks, std::int64_t tiles,
                              std::int64_t tasks) {
    __shared__ W held[reduce_threads];
    const int thread = static_cast<int>(threadIdx.x);
    const int width = inner < reduce_columns ? static_cast<int>(inner) : reduce_columns;
    const int groups = reduce_threads / width, group = thread / width;
    int widest = 1;
    while (2 * widest < groups) widest *= 2;
    for (std::int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
        const std::int64_t col = task % tiles * reduce_columns + thread % width;
        const std::int64_t part = task / tiles, begin = part % chunks * rows;
        const std::int64_t end = n - begin < rows ? n : begin + rows;
        const T* column = x + part / chunks * n * inner + col;
        W value = Op::template neutral<W>();
        if (group < groups && col < inner) {
            for (std::int64_t row = begin + group; row < end; row += groups)
                value = joined<Op>(value, column[row * inner]);
        }
        held[thread] = value;
        __syncthreads();
        for (int step = widest; step > 0; step /= 2) {
            if (group < step && group + step < groups)
                held[thread] = Op{}(held[thread], held[thread + step * width]);
            __syncthreads();
        }
        if (group == 0 && col < inner) y.store(part * inner + col, held[thread]);
    }
}

/// A thread for each result.
template <typename Op, typename T, typename W>
__global__ void thread_kernel(ReduceTarget y, const T* x, std::int64_t n, std::int64_t inner,
                              std::int64_t results) {
    for (std::int64_t i = grid_thread(); i < results; i += grid_threads()) {
        const T* column = x + i / inner * n * inner + i % inner;
        W value = Op::template neutral<W>();
        for (std::int64_t row = 0; row < n; ++row) value = joined<Op>(value, column[row * inner]);
        y.store(i, value);
    }
}

}  // namespace

void reduce_by_column(const ReducePass& pass, Stream stream) {
    const std::int64_t tiles = (pass.inner + reduce_columns - 1) / reduce_columns;
    const std::int64_t tasks = pass.outer * pass.chunks * tiles;
    with_reduction(pass, [&](auto op, auto type, auto wide) {
        using T = decltype(type);
        launch("reduce", column_kernel<decltype(op), T, decltype(wide)>, reduce_grid(tasks), stream,
               pass.y, static_cast<const T*>(pass.x.data), pass.n, pass.inner, pass.rows,
               pass.chunks, tiles, tasks);
    });
}

void reduce_by_thread(const ReducePass& pass, Stream stream) {
    const std::int64_t results = pass.outer * pass.inner;
    with_reduction(pass, [&](auto op, auto type, auto wide) {
        using T = decltype(type);
        launch("reduce", thread_kernel<decltype(op), T, decltype(wide)>, grid_for(results), stream,
               pass.y, static_cast<const T*>(pass.x.data), pass.n, pass.inner, results);
    });
}

}  // namespace kernels::cuda
