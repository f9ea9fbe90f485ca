#include <cassert>
#include <cmath>

#include "cuda/deferred_error.cuh"
#include "cuda/rows.cuh"
#include "kernels/softmax.h"

namespace kernels::cuda {
namespace {

template <int team, typename T>
__global__ void cross_entropy_forward_kernel(Compute<T>* stats, Compute<T>* losses, const T* logits,
                                             const std::int64_t* target, std::int64_t rows,
                                             std::int64_t cols, std::int64_t ignore_index,
                                             DeferredErrorPlace refused) {
    using W = Compute<T>;
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const T* in = logits + row * cols;
        const std::int64_t label = target[row];
        const bool ignored = label == ignore_index, in_range = label >= 0 && label < cols;
        RowScale<W> scale{W{0}, W{1}};
        if (!ignored) scale = row_scale<team>(in, cols, thread);  // the whole team's label
        if (thread != 0) return;
        const W log_sum =
            ignored || in_range ? std::log(scale.sum) : std::numeric_limits<W>::quiet_NaN();
        const W picked = in_range ? widen(in[label]) : W{0};
        stats[2 * row] = scale.max;
        stats[2 * row + 1] = log_sum;
        losses[row] = ignored ? W{0} : -((picked - scale.max) - log_sum);
        if (!ignored && !in_range) record_error(refused, code_of(label));
    });
}

/// One block, so that the order of summation is fixed.
template <typename To, typename W>
__global__ void cross_entropy_mean_kernel(To* mean, W* factor, const W* losses,
                                          const std::int64_t* target, std::int64_t rows,
                                          std::int64_t ignore_index) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t row = threadIdx.x; row < rows; row += default_threads) {
        sum += static_cast<double>(losses[row]);
        count += target[row] != ignore_index ? 1 : 0;
    }
    sum = block_reduce<default_threads>(sum, Sum());
    count = block_reduce<default_threads>(count, Sum());
    if (threadIdx.x != 0) return;
    const W share = W{1} / static_cast<W>(count);
    *factor = share;
    *mean = narrow<To>(static_cast<W>(sum) * share);
}

template <int team, typename T>
__global__ void cross_entropy_backward_kernel(T* dlogits, const Compute<T>* scale, bool one_scale,
                                              const T* logits, const Compute<T>* stats,
                                              const std::int64_t* target, std::int64_t rows,
                                              std::int64_t cols, std::int64_t ignore_index) {
    using W = Compute<T>;
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const std::int64_t label = target[row];
        const bool ignored = label == ignore_index;
        const W factor = scale[one_scale ? 0 : row];
        const W max = stats[2 * row], log_sum = stats[2 * row + 1];
        map_row<team>(dlogits + row * cols, logits + row * cols, cols, thread,
                      [&](T x, std::int64_t col) {
                          const W log_prob = (widen(x) - max) - log_sum;
                          const W error = std::exp(log_prob) - (col == label ? W{1} : W{0});
                          return narrow<T>(ignored ? W{0} : factor * error);
                      });
    });
}

}  // namespace

bool cross_entropy_forward(Array stats, Array losses, ConstArray logits, ConstArray target,
                           std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                           const DeferredErrorPlace& refused, Stream stream) {
    assert(logits.size == rows * cols && target.size == rows && losses.size == rows);
    assert(stats.size == 2 * rows && stats.dtype == losses.dtype && target.dtype == DType::i64);
    with_floating(logits.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        with_team(cols, [&](auto team) {
            launch("cross_entropy_forward", cross_entropy_forward_kernel<team(), T>,
                   grid_of_rows<team()>(rows), stream, static_cast<W*>(stats.data),
                   static_cast<W*>(losses.data), static_cast<const T*>(logits.data),
                   static_cast<const std::int64_t*>(target.data), rows, cols, ignore_index,
                   refused);
        });
    });
    return true;
}

void cross_entropy_mean(Array mean, Array factor, ConstArray losses, ConstArray target,
                        std::int64_t ignore_index, Stream stream) {
    assert(target.dtype == DType::i64 && target.size == losses.size);
    assert(factor.dtype == losses.dtype);
    with_floating(mean.dtype, [&]<typename To>(To) {
        const auto start = [&]<typename W>(W) {
            launch("cross_entropy_mean", cross_entropy_mean_kernel<To, W>, Grid{1, default_threads},
                   stream, static_cast<To*>(mean.data), static_cast<W*>(factor.data),
                   static_cast<const W*>(losses.data),
                   static_cast<const std::int64_t*>(target.data), losses.size, ignore_index);
        };
        if (losses.dtype == DType::f64)
            start(double{});
        else
            start(float{});
    });
}

void cross_entropy_backward(Array dlogits, ConstArray scale, ConstArray logits, ConstArray stats,
                            ConstArray target, std::int64_t rows, std::int64_t cols,
                            std::int64_t ignore_index, Stream stream) {
    assert(logits.size == rows * cols && dlogits.size == logits.size && stats.size == 2 * rows);
    assert(dlogits.dtype == logits.dtype);
    assert(scale.dtype == stats.dtype && (scale.size == 1 || scale.size == rows));
    if (dlogits.size == 0) return;
    with_floating(logits.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        with_team(cols, [&](auto team) {
            launch("cross_entropy_backward", cross_entropy_backward_kernel<team(), T>,
                   grid_of_rows<team()>(rows), stream, static_cast<T*>(dlogits.data),
                   static_cast<const W*>(scale.data), scale.size == 1,
                   static_cast<const T*>(logits.data), static_cast<const W*>(stats.data),
                   static_cast<const std::int64_t*>(target.data), rows, cols, ignore_index);
        });
    });
}

}  // namespace kernels::cuda
