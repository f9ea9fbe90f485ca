#include "kernels/scores.h"

#include <limits>

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

template <typename T>
__global__ void count_scores_kernel(std::int64_t* histogram, const T* scores,
                                    const std::int64_t* labels, std::int64_t n) {
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const auto score = static_cast<double>(widen(scores[i]));
        std::int64_t at = 2 * ScoreBins::count;
        if (score == score) at = (labels[i] != 0 ? ScoreBins::count : 0) + ScoreBins::bin_of(score);
        // Whole numbers: the counts do not depend on the order.
        atomicAdd(reinterpret_cast<unsigned long long*>(histogram + at), 1ull);
    }
}

constexpr int per_thread = static_cast<int>(ScoreBins::count) / default_threads;

/// One block; each thread has `per_thread` bins one after the other.
__global__ void add_score_pairs_kernel(double* sums, const std::int64_t* histogram) {
    __shared__ double zeros_of[default_threads];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t *zeros = histogram + thread * per_thread, *ones = zeros + ScoreBins::count;
    double mine = 0;
    for (int k = 0; k < per_thread; ++k) mine += static_cast<double>(zeros[k]);
    zeros_of[thread] = mine;
    __syncthreads();
    double below = 0, ordered = 0, clicked = 0, right = 0;
    for (int before = 0; before < thread; ++before) below += zeros_of[before];
    for (int k = 0; k < per_thread; ++k) {
        const auto zero = static_cast<double>(zeros[k]), one = static_cast<double>(ones[k]);
        ordered += one * (below + 0.5 * zero);
        right += thread < default_threads / 2 ? zero : one;
        below += zero;
        clicked += one;
    }
    const double all_zeros = block_reduce<default_threads>(mine, Sum());
    ordered = block_reduce<default_threads>(ordered, Sum());
    clicked = block_reduce<default_threads>(clicked, Sum());
    right = block_reduce<default_threads>(right, Sum());
    if (thread != 0) return;
    if (histogram[2 * ScoreBins::count] != 0) ordered = std::numeric_limits<double>::quiet_NaN();
    sums[0] += ordered;
    sums[1] += all_zeros * clicked;
    sums[2] += right;
}

}  // namespace

void count_scores(std::int64_t* histogram, ConstArray scores, ConstArray labels, Stream stream) {
    if (scores.size == 0) return;
    with_floating(scores.dtype, [&]<typename T>(T) {
        launch("count_scores", count_scores_kernel<T>, grid_for(scores.size), stream, histogram,
               static_cast<const T*>(scores.data), static_cast<const std::int64_t*>(labels.data),
               scores.size);
    });
}

void add_score_pairs(double* sums, const std::int64_t* histogram, Stream stream) {
    launch("add_score_pairs", add_score_pairs_kernel, Grid{1, default_threads}, stream, sums,
           histogram);
}

}  // namespace kernels::cuda
