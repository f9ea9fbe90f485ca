#include "kernels/recurrent.h"

#include <cassert>

#include "cpu/grain.h"
#include "cpu/recurrent_rows.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recurrent.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/elementwise_math-inl.h"
#include "cpu/formula-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE VF logistic(VF x) { return sigmoid_of(x); }
HWY_INLINE VF one_minus(VF x) { return hn::Sub(hn::Set(DF(), 1.0f), x); }
HWY_INLINE VF tanh_slope(VF y) { return hn::NegMulAdd(y, y, hn::Set(DF(), 1.0f)); }
HWY_INLINE VF relu_pass(VF x, VF v) { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(DF())), v); }

template <class T, class P>
HWY_INLINE VF load_or_zero(const T* p, std::int64_t i, P part) {
    return p == nullptr ? hn::Zero(DF()) : part.load(p + i);
}

#define HALFTONE_FORMULA HWY_INLINE
#include "shared/recurrent_cells.inc"
#undef HALFTONE_FORMULA

template <class T>
void forward_row(RecurrentShape shape, const StepArrays<T>& arrays, std::int64_t row) {
    const std::int64_t n = shape.hidden, gate = row * gates_of(shape.cell) * n, state = row * n;
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        forward_column(shape.cell, arrays, {n, gate + i, state + i}, part);
    });
}

template <class T>
void gradient_row(RecurrentShape shape, const StepGradientArrays<T>& arrays, std::int64_t row) {
    const std::int64_t n = shape.hidden, gate = row * gates_of(shape.cell) * n, state = row * n;
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        gradient_column(shape.cell, arrays, {n, gate + i, state + i}, part);
    });
}

void forward_rows(const RecurrentStep& step, std::int64_t begin, std::int64_t end) {
    with_vector_type(step.gx.dtype, [&](auto type) {
        const auto arrays = step.arrays<decltype(type)>();
        for (std::int64_t row = begin; row < end; ++row) forward_row(step.shape, arrays, row);
    });
}

void gradient_rows(const RecurrentGradient& step, std::int64_t begin, std::int64_t end) {
    with_vector_type(step.gx.dtype, [&](auto type) {
        const auto arrays = step.arrays<decltype(type)>();
        for (std::int64_t row = begin; row < end; ++row) gradient_row(step.shape, arrays, row);
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {
HWY_EXPORT(forward_rows);
HWY_EXPORT(gradient_rows);
}  // namespace

void recurrent_rows(const RecurrentStep& step, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(forward_rows)(step, begin, end);
}

void recurrent_gradient_rows(const RecurrentGradient& step, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_rows)(step, begin, end);
}

void recurrent_forward(Array h_new, Array c_new, ConstArray gx, ConstArray gh, ConstArray state,
                       const RecurrentShape& shape, Stream) {
    assert(gx.size == shape.rows * shape.hidden * gates_of(shape.cell) && gh.size == gx.size);
    const RecurrentStep step{h_new, c_new, gx, gh, state, shape};
    // A column costs some dozen operations.
    const std::int64_t grain = row_grain(16 * gates_of(shape.cell) * shape.hidden);
    parallel_for(shape.rows, grain, [&](std::int64_t begin, std::int64_t end) {
        if (gx.dtype == DType::f64)
            recurrent_rows_double(step, begin, end);
        else
            recurrent_rows(step, begin, end);
    });
}

void recurrent_backward(Array dgx, Array dgh, Array dstate, ConstArray dh, ConstArray dh_more,
                        ConstArray dc, ConstArray gx, ConstArray gh, ConstArray state,
                        const RecurrentShape& shape, Stream) {
    assert(gx.size == shape.rows * shape.hidden * gates_of(shape.cell) && dgx.size == gx.size);
    const RecurrentGradient step{dgx, dgh, dstate, dh, dh_more, dc, gx, gh, state, shape};
    const std::int64_t grain = row_grain(16 * gates_of(shape.cell) * shape.hidden);
    parallel_for(shape.rows, grain, [&](std::int64_t begin, std::int64_t end) {
        if (gx.dtype == DType::f64)
            recurrent_gradient_rows_double(step, begin, end);
        else
            recurrent_gradient_rows(step, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
