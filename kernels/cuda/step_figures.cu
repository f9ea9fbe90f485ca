#include "kernels/step_figures.h"

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

constexpr Grid one_thread{1, 1};

/// A column and its logit. The better: NaN before numbers, then the larger, then the first.
template <typename V>
struct Candidate {
    V value;
    std::int64_t column;

    __device__ bool better_than(const Candidate& other) const {
        const bool nan = value != value, other_nan = other.value != other.value;
        if (nan != other_nan) return nan;
        if (nan || value == other.value) return column < other.column;
        return value > other.value;
    }
};

/// Of a row, for all lanes of the warp that shares it.
template <typename T>
__device__ std::int64_t first_largest(const T* row, std::int64_t cols) {
    using V = Compute<T>;
    Candidate<V> best{-std::numeric_limits<V>::infinity(), cols};
    for (std::int64_t c = threadIdx.x % warp_size; c < cols; c += warp_size) {
        const Candidate<V> here{widen(row[c]), c};
        if (here.better_than(best)) best = here;
    }
    for (int bits = warp_size / 2; bits > 0; bits /= 2) {
        const V value = __shfl_xor_sync(whole_warp, best.value, bits);
        const std::int64_t column = __shfl_xor_sync(whole_warp, best.column, bits);
        const Candidate<V> other{value, column};
        if (other.better_than(best)) best = other;
    }
    return best.column;
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
    tally->samples += rows;
    tally->loss_sum += static_cast<double>(rows) * static_cast<double>(widen(*loss));
}

template <typename T>
__device__ void copy_if_given(T& field, const T* source) {
    if (source != nullptr) field = *source;
}

__global__ void gather_step_kernel(StepFigures* figures, StepSources from) {
    copy_if_given(figures->tally, from.tally);
    copy_if_given(figures->judgement, from.judgement);
    copy_if_given(figures->counts, from.counts);
    copy_if_given(figures->updates, from.updates);
    copy_if_given(figures->loss_scale, from.loss_scale);
    copy_if_given(figures->next_loss_scale, from.next_loss_scale);
    copy_if_given(figures->lr, from.lr);
    copy_if_given(figures->scaled_f16_max, from.scaled_f16_max);
    copy_if_given(figures->growth_tracker, from.growth_tracker);
    if (from.refusal != nullptr) {
        figures->refusal = *from.refusal;
        *from.refusal = 0;
    }
}

__global__ void set_learning_rate_kernel(float* lr, const std::int64_t* updates,
                                         LearningRateSchedule schedule) {
    *lr = static_cast<float>(learning_rate(schedule, *updates));
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
