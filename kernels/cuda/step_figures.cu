#include "shared/step_figures.h"

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/first_largest.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

constexpr Grid one_thread{1, 1};

/// Of a row, for all lanes of the warp that shares it.
template <typename T>
__device__ std::int64_t first_largest(const T* row, std::int64_t cols) {
    Candidate<Compute<T>> best{0, -1};
    for (std::int64_t c = threadIdx.x % warp_size; c < cols; c += warp_size)
        best.take({widen(row[c]), c});
    best.take_from_warp();
    return best.index;
}

/// A warp a row.
template <typename T>
__global__ void count_correct_kernel(BatchTally* tally, const T* logits, const std::int64_t* labels,
                                     std::int64_t rows, std::int64_t cols) {
    std::int32_t correct = 0;  // of this lane; a warp's share of the rows has room in 31 bits
    for (std::int64_t r = grid_thread() / warp_size; r < rows; r += grid_threads() / warp_size) {
        const std::int64_t found = first_largest(logits + r * cols, cols);
        if (threadIdx.x % warp_size == 0 && found == labels[r]) ++correct;
    }
    const std::int32_t all = block_reduce<default_threads>(correct, Sum());
    if (threadIdx.x == 0 && all != 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(&tally->correct),
                  static_cast<unsigned long long>(all));
}

template <typename T>
__global__ void add_loss_kernel(BatchTally* tally, const T* loss, std::int64_t rows) {
    add_loss(*tally, static_cast<double>(widen(*loss)), rows);
}

__global__ void gather_step_kernel(StepFigures* figures, StepSources from) {
    gather_figures(*figures, from);
}

__global__ void set_learning_rate_kernel(float* lr, const std::int64_t* updates,
                                         LearningRateSchedule schedule) {
    put_learning_rate(lr, updates, schedule);
}

}  // namespace

void tally_batch(BatchTally* tally, ConstArray loss, ConstArray logits, ConstArray labels,
                 std::int64_t rows, std::int64_t cols, Stream stream) {
    if (rows == 0) return;
    with_floating(loss.dtype, [&](auto type) {
        using T = decltype(type);
        launch("tally_batch", add_loss_kernel<T>, one_thread, stream, tally,
               static_cast<const T*>(loss.data), rows);
    });
    if (cols == 0) return;
    with_floating(logits.dtype, [&](auto type) {
        using T = decltype(type);
        launch("tally_batch", count_correct_kernel<T>, grid_for(rows * warp_size), stream, tally,
               static_cast<const T*>(logits.data), static_cast<const std::int64_t*>(labels.data),
               rows, cols);
    });
}

void gather_step(StepFigures* figures, const StepSources& sources, Stream stream) {
    launch("gather_step", gather_step_kernel, one_thread, stream, figures, sources);
}

void set_learning_rate(float* lr, const std::int64_t* updates, const LearningRateSchedule& schedule,
                       Stream stream) {
    launch("set_learning_rate", set_learning_rate_kernel, one_thread, stream, lr, updates,
           schedule);
}

}  // namespace kernels::cuda
