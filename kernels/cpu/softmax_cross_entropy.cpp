#include <atomic>
#include <cassert>

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

void log_prob_rows(Array log_probs, ConstArray logits, std::int64_t cols, std::int64_t begin,
                   std::int64_t end) {
    with_vector_type(logits.dtype, [&](auto type) {
        using T = decltype(type);
        for (std::int64_t row = begin; row < end; ++row) {
            const T* in = static_cast<const T*>(logits.data) + row * cols;
            log_softmax_row(static_cast<float*>(log_probs.data) + row * cols, in, cols,
                            row_scale(in, cols));
        }
    });
}

/// factor * (exp(log_probs) - onehot(label)); the row of an ignored label is 0, NaN or not.
template <class T>
void gradient_row(T* out, const float* log_probs, std::int64_t cols, float factor,
                  std::int64_t label) {
    const VF scale = hn::Set(DF(), factor), zero = hn::Zero(DF()), one = hn::Set(DF(), 1.0f);
    const VF at_label = cross_entropy_gradient(hn::Set(DF(), log_probs[label]), one, scale);
    map(out, log_probs, cols, [&](VF v) { return cross_entropy_gradient(v, zero, scale); });
    store_part(at_label, out + label, 1);
}

void cross_entropy_backward_rows(Array dlogits, ConstArray scale, ConstArray log_probs,
                                 ConstArray target, std::int64_t cols, std::int64_t ignore_index,
                                 std::int64_t begin, std::int64_t end) {
    with_vector_type(dlogits.dtype, [&](auto type) {
        using T = decltype(type);
        const auto* labels = static_cast<const std::int64_t*>(target.data);
        const auto* factors = static_cast<const float*>(scale.data);
        for (std::int64_t row = begin; row < end; ++row) {
            T* out = static_cast<T*>(dlogits.data) + row * cols;
            const float* in = static_cast<const float*>(log_probs.data) + row * cols;
            if (labels[row] == ignore_index)
                map(out, in, cols, [](VF) { return hn::Zero(DF()); });
            else
                gradient_row(out, in, cols, factors[scale.size == 1 ? 0 : row], labels[row]);
        }
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(log_prob_rows);
HWY_EXPORT(cross_entropy_backward_rows);

template <class T>
void pick_losses(Array losses, Array log_probs, const std::int64_t* labels, std::int64_t cols,
                 std::int64_t ignore_index) {
    for (std::int64_t row = 0; row < losses.size; ++row)
        static_cast<T*>(losses.data)[row] =
            labels[row] == ignore_index
                ? T{0}
                : -static_cast<const T*>(log_probs.data)[row * cols + labels[row]];
}

}  // namespace

bool cross_entropy_forward(Array log_probs, Array losses, ConstArray logits, ConstArray target,
                           std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                           const RefusalPlace&, Stream) {
    assert(logits.size == rows * cols && target.size == rows && losses.size == rows);
    const auto* labels = static_cast<const std::int64_t*>(target.data);
    for (std::int64_t row = 0; row < rows; ++row) {
        const bool in_range = labels[row] >= 0 && labels[row] < cols;
        if (!in_range && labels[row] != ignore_index) return false;
    }
    const bool wide = logits.dtype == DType::f64;
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (wide)
            softmax_rows_double(log_probs, logits, cols, SoftmaxForm::log, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(log_prob_rows)(log_probs, logits, cols, begin, end);
    });
    if (wide)
        pick_losses<double>(losses, log_probs, labels, cols, ignore_index);
    else
        pick_losses<float>(losses, log_probs, labels, cols, ignore_index);
    return true;
}

void cross_entropy_backward(Array dlogits, ConstArray scale, ConstArray log_probs,
                            ConstArray target, std::int64_t rows, std::int64_t cols,
                            std::int64_t ignore_index, Stream) {
    assert(log_probs.size == rows * cols && dlogits.size == log_probs.size);
    assert(scale.dtype == log_probs.dtype && (scale.size == 1 || scale.size == rows));
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (log_probs.dtype == DType::f64)
            cross_entropy_backward_rows_double(dlogits, scale, log_probs, target, cols,
                                               ignore_index, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(cross_entropy_backward_rows)
        (dlogits, scale, log_probs, target, cols, ignore_index, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
