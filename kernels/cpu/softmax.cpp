#include "kernels/softmax.h"

#include <algorithm>
#include <cassert>

#include "cpu/grain.h"
#include "cpu/softmax_double.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/softmax.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "cpu/rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

void softmax_rows(Array y, ConstArray x, std::int64_t cols, SoftmaxForm form, std::int64_t begin,
                  std::int64_t end) {
    with_vector_type(x.dtype, [&](auto from) {
        with_vector_type(y.dtype, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            for (std::int64_t row = begin; row < end; ++row) {
                const From* in = static_cast<const From*>(x.data) + row * cols;
                To* out = static_cast<To*>(y.data) + row * cols;
                const RowScale scale = row_scale(in, cols);
                if (form == SoftmaxForm::log)
                    log_softmax_row(out, in, cols, scale);
                else if (form == SoftmaxForm::masked && all_masked(in, cols, scale.max))
                    std::fill(out, out + cols, To{});
                else
                    softmax_row(out, in, cols, scale);
            }
        });
    });
}

void softmax_backward_rows(Array dx, ConstArray dy, ConstArray y, std::int64_t cols, bool log,
                           std::int64_t begin, std::int64_t end) {
    with_vector_type(y.dtype, [&](auto from) {
        with_vector_type(dx.dtype, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            for (std::int64_t row = begin; row < end; ++row) {
                const From* g = static_cast<const From*>(dy.data) + row * cols;
                const From* out = static_cast<const From*>(y.data) + row * cols;
                To* to_row = static_cast<To*>(dx.data) + row * cols;
                if (log) {
                    const VF sum = hn::Set(DF(), row_sum(g, g, cols, [](VF u, VF) { return u; }));
                    map(to_row, g, out, cols,
                        [&](VF u, VF v) { return log_probability_gradient(u, v, sum); });
                } else {
                    const VF dot = hn::Set(
                        DF(), row_sum(g, out, cols, [](VF u, VF v) { return hn::Mul(u, v); }));
                    map(to_row, g, out, cols,
                        [&](VF u, VF v) { return probability_gradient(u, v, dot); });
                }
            }
        });
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {
HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_backward_rows);
}  // namespace

void softmax_forward(Array y, ConstArray x, std::int64_t rows, std::int64_t cols, SoftmaxForm form,
                     Stream) {
    assert(x.size == rows * cols && y.size == x.size);
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (x.dtype == DType::f64)
            softmax_rows_double(y, x, cols, form, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(softmax_rows)(y, x, cols, form, begin, end);
    });
}

void softmax_backward(Array dx, ConstArray dy, ConstArray y, std::int64_t rows, std::int64_t cols,
                      bool log, Stream) {
    assert(y.size == rows * cols && dx.size == y.size && dy.dtype == y.dtype);
    parallel_for(rows, row_grain(cols) / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
        if (y.dtype == DType::f64)
            softmax_backward_rows_double(dx, dy, y, cols, log, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(softmax_backward_rows)(dx, dy, y, cols, log, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
