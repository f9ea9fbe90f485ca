#include <algorithm>
#include <cassert>
#include <cmath>

#include "cpu/grain.h"
#include "cpu/softmax_double.h"
#include "kernels/parallel.h"
#include "kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/softmax_cross_entropy.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "cpu/rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

void cross_entropy_forward_rows(Array stats, Array losses, ConstArray logits, ConstArray target,
                                std::int64_t cols, std::int64_t ignore_index, std::int64_t begin,
                                std::int64_t end) {
    with_vector_type(logits.dtype, [&](auto type) {
        using T = decltype(type);
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t label = static_cast<const std::int64_t*>(target.data)[row];
            float* kept = static_cast<float*>(stats.data) + 2 * row;
            float& loss = static_cast<float*>(losses.data)[row];
            kept[0] = kept[1] = loss = 0;
            if (label == ignore_index) continue;
            const T* in = static_cast<const T*>(logits.data) + row * cols;
            const RowScale scale = row_scale(in, cols);
            kept[0] = scale.max;
            kept[1] = std::log(scale.sum);
            const VF at_label = load_part(in + label, 1);
            loss = -hn::GetLane(
                log_probability(at_label, hn::Set(DF(), kept[0]), hn::Set(DF(), kept[1])));
        }
    });
}

/// factor * (exp(log_probability) - onehot(label)). The label's element is read before the row is
/// written, which may be the same memory.
template <class T>
void gradient_row(T* out, const T* in, const float* kept, std::int64_t cols, float factor,
                  std::int64_t label) {
    const DF d;
    const VF max = hn::Set(d, kept[0]), log_sum = hn::Set(d, kept[1]), scale = hn::Set(d, factor);
    const auto gradient = [&](VF x, VF onehot) HWY_ATTR {
        return cross_entropy_gradient(log_probability(x, max, log_sum), onehot, scale);
    };
    const VF at_label = gradient(load_part(in + label, 1), hn::Set(d, 1.0f)), zero = hn::Zero(d);
    map(out, in, cols, [&](VF x) HWY_ATTR { return gradient(x, zero); });
    store_part(at_label, out + label, 1);
}

void cross_entropy_backward_rows(Array dlogits, ConstArray scale, ConstArray logits,
                                 ConstArray stats, ConstArray target, std::int64_t cols,
                                 std::int64_t ignore_index, std::int64_t begin, std::int64_t end) {
    with_vector_type(logits.dtype, [&](auto type) {
        using T = decltype(type);
        const auto* labels = static_cast<const std::int64_t*>(target.data);
        const auto* factors = static_cast<const float*>(scale.data);
        for (std::int64_t row = begin; row < end; ++row) {
            T* out = static_cast<T*>(dlogits.data) + row * cols;
            const T* in = static_cast<const T*>(logits.data) + row * cols;
            if (labels[row] == ignore_index)
                std::fill(out, out + cols, T{});
            else
                gradient_row(out, in, static_cast<const float*>(stats.data) + 2 * row, cols,
                             factors[scale.size == 1 ? 0 : row], labels[row]);
        }
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(cross_entropy_forward_rows);
HWY_EXPORT(cross_entropy_backward_rows);

}  // namespace

bool cross_entropy_forward(Array stats, Array losses, ConstArray logits, ConstArray target,
                           std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                           const DeferredErrorPlace&, Stream) {
    assert(logits.size == rows * cols && target.size == rows && losses.size == rows);
    assert(stats.size == 2 * rows && stats.dtype == losses.dtype);
    const auto* labels = static_cast<const std::int64_t*>(target.data);
    for (std::int64_t row = 0; row < rows; ++row) {
        const bool in_range = labels[row] >= 0 && labels[row] < cols;
        if (!in_range && labels[row] != ignore_index) return false;
    }
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (logits.dtype == DType::f64)
            cross_entropy_forward_rows_double(stats, losses, logits, target, cols, ignore_index,
                                              begin, end);
        else
            HWY_DYNAMIC_DISPATCH(cross_entropy_forward_rows)
        (stats, losses, logits, target, cols, ignore_index, begin, end);
    });
    return true;
}

void cross_entropy_backward(Array dlogits, ConstArray scale, ConstArray logits, ConstArray stats,
                            ConstArray target, std::int64_t rows, std::int64_t cols,
                            std::int64_t ignore_index, Stream) {
    assert(logits.size == rows * cols && dlogits.size == logits.size && stats.size == 2 * rows);
    assert(dlogits.dtype == logits.dtype);
    assert(scale.dtype == stats.dtype && (scale.size == 1 || scale.size == rows));
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (logits.dtype == DType::f64)
            cross_entropy_backward_rows_double(dlogits, scale, logits, stats, target, cols,
                                               ignore_index, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(cross_entropy_backward_rows)
        (dlogits, scale, logits, stats, target, cols, ignore_index, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
