#include "shared/step_figures.h"

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/first_largest.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

constexpr Grid one_thread{1, 1};

/// Place of a row's first largest element, for all lanes of the warp that shares the row; -1 if one
/// is NaN.
template <typename T>
__device__ std::int64_t first_largest(const T* row, std::int64_t cols) {
    Candidate<Compute<T>> best{0, -1};
    for (std::int64_t c = threadIdx.x % warp_size; c < cols; c += warp_size)
        best.take({widen(row[c]), c});
    best.take_from_warp();
    return best.value == best.value ? best.index : -1;
}

/// A warp a row.
template <typename T>
__global__ void count_correct_kernel(double* correct, const T* logits, const std::int64_t* labels,
                                     std::int64_t rows, std::int64_t cols) {
    std::int32_t mine = 0;  // of this lane; a warp's share of the rows has room in 31 bits
    for (std::int64_t r = grid_thread() / warp_size; r < rows; r += grid_threads() / warp_size) {
        const std::int64_t found = first_largest(logits + r * cols, cols);
        if (threadIdx.x % warp_size == 0 && found == labels[r]) ++mine;
    }
    const std::int32_t all = block_reduce<default_threads>(mine, Sum());
    // Whole numbers: the sum does not depend on the order of the blocks.
    if (threadIdx.x == 0 && all != 0) atomicAdd(correct, static_cast<double>(all));
}

template <typename T>
__global__ void add_loss_kernel(MetricSums* sums, const T* loss, double weight) {
    add_mean_loss(*sums, static_cast<double>(widen(*loss)), weight);
}

template <typename T>
__global__ void add_weighted_kernel(double* sum, const T* value, double weight) {
    *sum += weight * static_cast<double>(widen(*value));
}

/// One block, so that the order of summation is fixed.
template <typename P, typename T>
__global__ void add_squares_kernel(double* sums, const P* prediction, const T* target,
                                   std::int64_t size) {
    double squares = 0, first = 0, second = 0;
    for (std::int64_t i = threadIdx.x; i < size; i += blockDim.x) {
        const double wanted = static_cast<double>(widen(target[i]));
        const double error = static_cast<double>(widen(prediction[i])) - wanted;
        squares += error * error;
        first += wanted;
        second += wanted * wanted;
    }
    squares = block_reduce<default_threads>(squares, Sum());
    first = block_reduce<default_threads>(first, Sum());
    second = block_reduce<default_threads>(second, Sum());
    if (threadIdx.x != 0) return;
    sums[0] += squares;
    sums[1] += first;
    sums[2] += second;
}

__global__ void merge_gradient_statistics_kernel(GradientStatistics* to,
                                                 const GradientStatistics* from) {
    add_gradient_statistics(*to, *from);
}

__global__ void set_learning_rate_kernel(float* lr, const std::int64_t* updates,
                                         const double* multiplier, LearningRateSchedule schedule) {
    put_learning_rate(lr, updates, multiplier, schedule);
}

}  // namespace

void add_loss(MetricSums* sums, ConstArray loss, double weight, Stream stream) {
    if (weight == 0) return;
    with_floating(loss.dtype, [&]<typename T>(T) {
        launch("add_loss", add_loss_kernel<T>, one_thread, stream, sums,
               static_cast<const T*>(loss.data), weight);
    });
}

void add_weighted(double* sum, ConstArray value, double weight, Stream stream) {
    with_floating(value.dtype, [&]<typename T>(T) {
        launch("add_weighted", add_weighted_kernel<T>, one_thread, stream, sum,
               static_cast<const T*>(value.data), weight);
    });
}

void count_correct(double* correct, ConstArray logits, ConstArray labels, std::int64_t rows,
                   std::int64_t cols, Stream stream) {
    if (rows == 0 || cols == 0) return;
    with_floating(logits.dtype, [&]<typename T>(T) {
        launch("count_correct", count_correct_kernel<T>, grid_for(rows * warp_size), stream,
               correct, static_cast<const T*>(logits.data),
               static_cast<const std::int64_t*>(labels.data), rows, cols);
    });
}

void add_squares(double* sums, ConstArray prediction, ConstArray target, Stream stream) {
    if (target.size == 0) return;
    with_floating(prediction.dtype, [&](auto predicted) {
        with_floating(target.dtype, [&](auto wanted) {
            using P = decltype(predicted);
            using T = decltype(wanted);
            launch("add_squares", add_squares_kernel<P, T>, Grid{1, default_threads}, stream, sums,
                   static_cast<const P*>(prediction.data), static_cast<const T*>(target.data),
                   target.size);
        });
    });
}

void merge_gradient_statistics(GradientStatistics* to, const GradientStatistics* from,
                               Stream stream) {
    launch("merge_gradient_statistics", merge_gradient_statistics_kernel, one_thread, stream, to,
           from);
}

void set_learning_rate(float* lr, const std::int64_t* updates, const double* multiplier,
                       const LearningRateSchedule& schedule, Stream stream) {
    launch("set_learning_rate", set_learning_rate_kernel, one_thread, stream, lr, updates,
           multiplier, schedule);
}

}  // namespace kernels::cuda
