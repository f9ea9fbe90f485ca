#include <cassert>
#include <cmath>

#include "cuda/refusal.cuh"
#include "cuda/rows.cuh"
#include "kernels/softmax.h"

namespace kernels::cuda {
namespace {

template <int team, typename T>
__global__ void cross_entropy_forward_kernel(Compute<T>* log_probs, Compute<T>* losses,
                                             const T* logits, const std::int64_t* target,
                                             std::int64_t rows, std::int64_t cols,
                                             std::int64_t ignore_index, RefusalPlace refused) {
    using W = Compute<T>;
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const T* in = logits + row * cols;
        const std::int64_t label = target[row];
        const bool ignored = label == ignore_index, in_range = label >= 0 && label < cols;
        // Before the row's reductions, which all its threads wait for: log_probs may lie over it.
        const W picked = in_range ? widen(in[label]) : W{0};
        const RowScale<W> scale = row_scale<team>(in, cols, thread);
        const W log_sum =
            ignored || in_range ? std::log(scale.sum) : std::numeric_limits<W>::quiet_NaN();
        map_row<team>(log_probs + row * cols, in, cols, thread,
                      [&](T v, std::int64_t) { return (widen(v) - scale.max) - log_sum; });
        if (thread != 0) return;
        losses[row] = ignored ? W{0} : -((picked - scale.max) - log_sum);
        if (!ignored && !in_range) note_refusal(refused, code_of(label));
    });
}

template <int team, typename To, typename W>
__global__ void cross_entropy_backward_kernel(To* dlogits, const W* scale, bool one_scale,
                                              const W* log_probs, const std::int64_t* target,
                                              std::int64_t rows, std::int64_t cols,
                                              std::int64_t ignore_index) {
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const std::int64_t label = target[row];
        const bool ignored = label == ignore_index;
        const W factor = scale[one_scale ? 0 : row];
        map_row<team>(dlogits + row * cols, log_probs + row * cols, cols, thread,
                      [&](W v, std::int64_t col) {
                          const W error = std::exp(v) - (col == label ? W{1} : W{0});
                          return narrow<To>(ignored ? W{0} : factor * error);
                      });
    });
}

template <typename To, typename W>
void start_backward(Array dlogits, ConstArray scale, ConstArray log_probs, ConstArray target,
                    std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                    Stream stream) {
    with_team(cols, [&](auto team) {
        launch("cross_entropy_backward", cross_entropy_backward_kernel<team(), To, W>,
               grid_of_rows<team()>(rows), stream, static_cast<To*>(dlogits.data),
               static_cast<const W*>(scale.data), scale.size == 1,
               static_cast<const W*>(log_probs.data), static_cast<const std::int64_t*>(target.data),
               rows, cols, ignore_index);
    });
}

}  // namespace

bool cross_entropy_forward(Array log_probs, Array losses, ConstArray logits, ConstArray target,
                           std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                           const RefusalPlace& refused, Stream stream) {
    assert(logits.size == rows * cols && target.size == rows && losses.size == rows);
    assert(log_probs.dtype == losses.dtype && target.dtype == DType::i64);
    with_floating(logits.dtype, [&](auto type) {
        using T = decltype(type);
        using W = Compute<T>;
        with_team(cols, [&](auto team) {
            launch("cross_entropy_forward", cross_entropy_forward_kernel<team(), T>,
                   grid_of_rows<team()>(rows), stream, static_cast<W*>(log_probs.data),
                   static_cast<W*>(losses.data), static_cast<const T*>(logits.data),
                   static_cast<const std::int64_t*>(target.data), rows, cols, ignore_index,
                   refused);
        });
    });
    return true;
}

void cross_entropy_backward(Array dlogits, ConstArray scale, ConstArray log_probs,
                            ConstArray target, std::int64_t rows, std::int64_t cols,
                            std::int64_t ignore_index, Stream stream) {
    assert(log_probs.size == rows * cols && dlogits.size == log_probs.size);
    assert(scale.dtype == log_probs.dtype && (scale.size == 1 || scale.size == rows));
    if (dlogits.size == 0) return;
    with_floating(dlogits.dtype, [&](auto type) {
        using To = decltype(type);
        if (log_probs.dtype == DType::f64)
            start_backward<To, double>(dlogits, scale, log_probs, target, rows, cols, ignore_index,
                                       stream);
        else if constexpr (!std::is_same_v<To, double>)
            start_backward<To, float>(dlogits, scale, log_probs, target, rows, cols, ignore_index,
                                      stream);
        else
            throw DeviceError("cross_entropy_backward: dlogits in f64 of log_probs in f32");
    });
}

}  // namespace kernels::cuda
