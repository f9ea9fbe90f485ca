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
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE VF one() { return hn::Set(DF(), 1.0f); }
/// y' of a logistic function, and of tanh, by its value.
HWY_INLINE VF logistic_slope(VF y) { return hn::Mul(y, hn::Sub(one(), y)); }
HWY_INLINE VF tanh_slope(VF y) { return hn::NegMulAdd(y, y, one()); }

/// Rows of an array as T, `width` columns each; null where the array is.
template <class T>
T* row_of(Array x, std::int64_t row, std::int64_t width) {
    return x.data == nullptr ? nullptr : static_cast<T*>(x.data) + row * width;
}
template <class T>
const T* row_of(ConstArray x, std::int64_t row, std::int64_t width) {
    return x.data == nullptr ? nullptr : static_cast<const T*>(x.data) + row * width;
}

/// What one row of a step reads; gate k at column i.
template <class T>
struct Gates {
    const T* gx;
    const T* gh;
    std::int64_t hidden;

    template <class P>
    HWY_INLINE VF input(std::int64_t k, std::int64_t i, P part) const {
        return part.load(gx + k * hidden + i);
    }
    template <class P>
    HWY_INLINE VF hidden_side(std::int64_t k, std::int64_t i, P part) const {
        return part.load(gh + k * hidden + i);
    }
    template <class P>
    HWY_INLINE VF both(std::int64_t k, std::int64_t i, P part) const {
        return hn::Add(input(k, i, part), hidden_side(k, i, part));
    }
};

template <class T, class P>
HWY_INLINE VF load_or_zero(const T* p, std::int64_t i, P part) {
    return p == nullptr ? hn::Zero(DF()) : part.load(p + i);
}

template <class T>
void forward_row(const RecurrentStep& s, std::int64_t row) {
    const std::int64_t n = s.shape.hidden, width = gates_of(s.shape.cell) * n;
    const Gates<T> g{row_of<T>(s.gx, row, width), row_of<T>(s.gh, row, width), n};
    T* h_new = row_of<T>(s.h_new, row, n);
    T* c_new = row_of<T>(s.c_new, row, n);
    const T* state = row_of<T>(s.state, row, n);
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        switch (s.shape.cell) {
            case RecurrentCell::rnn_tanh:
                part.store(tanh_of(g.both(0, i, part)), h_new + i);
                break;
            case RecurrentCell::rnn_relu:
                part.store(relu_of(g.both(0, i, part)), h_new + i);
                break;
            case RecurrentCell::lstm: {
                const VF in = sigmoid_of(g.both(0, i, part));
                const VF forget = sigmoid_of(g.both(1, i, part));
                const VF fresh = tanh_of(g.both(2, i, part));
                const VF out = sigmoid_of(g.both(3, i, part));
                const VF c = hn::MulAdd(forget, part.load(state + i), hn::Mul(in, fresh));
                part.store(c, c_new + i);
                part.store(hn::Mul(out, tanh_of(c)), h_new + i);
                break;
            }
            case RecurrentCell::gru: {
                const VF reset = sigmoid_of(g.both(0, i, part));
                const VF update = sigmoid_of(g.both(1, i, part));
                const VF fresh =
                    tanh_of(hn::MulAdd(reset, g.hidden_side(2, i, part), g.input(2, i, part)));
                const VF h = part.load(state + i);
                part.store(hn::MulAdd(update, hn::Sub(h, fresh), fresh), h_new + i);
                break;
            }
        }
    });
}

template <class T>
void gradient_row(const RecurrentGradient& s, std::int64_t row) {
    const std::int64_t n = s.shape.hidden, width = gates_of(s.shape.cell) * n;
    const Gates<T> g{row_of<T>(s.gx, row, width), row_of<T>(s.gh, row, width), n};
    T* dgx = row_of<T>(s.dgx, row, width);
    T* dgh = row_of<T>(s.dgh, row, width);
    T* dstate = row_of<T>(s.dstate, row, n);
    const T *above = row_of<T>(s.dh, row, n), *more = row_of<T>(s.dh_more, row, n);
    const T *above_c = row_of<T>(s.dc, row, n), *state = row_of<T>(s.state, row, n);
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        const VF dh = hn::Add(load_or_zero(above, i, part), load_or_zero(more, i, part));
        switch (s.shape.cell) {
            case RecurrentCell::rnn_tanh:
                part.store(hn::Mul(dh, tanh_slope(tanh_of(g.both(0, i, part)))), dgx + i);
                break;
            case RecurrentCell::rnn_relu: {
                const auto stopped = hn::Le(g.both(0, i, part), hn::Zero(DF()));
                part.store(hn::IfThenZeroElse(stopped, dh), dgx + i);
                break;
            }
            case RecurrentCell::lstm: {
                const VF in = sigmoid_of(g.both(0, i, part));
                const VF forget = sigmoid_of(g.both(1, i, part));
                const VF fresh = tanh_of(g.both(2, i, part));
                const VF out = sigmoid_of(g.both(3, i, part));
                const VF c = part.load(state + i);
                const VF bent = tanh_of(hn::MulAdd(forget, c, hn::Mul(in, fresh)));
                const VF dc =
                    hn::MulAdd(hn::Mul(dh, out), tanh_slope(bent), load_or_zero(above_c, i, part));
                part.store(hn::Mul(hn::Mul(dc, fresh), logistic_slope(in)), dgx + i);
                part.store(hn::Mul(hn::Mul(dc, c), logistic_slope(forget)), dgx + n + i);
                part.store(hn::Mul(hn::Mul(dc, in), tanh_slope(fresh)), dgx + 2 * n + i);
                part.store(hn::Mul(hn::Mul(dh, bent), logistic_slope(out)), dgx + 3 * n + i);
                part.store(hn::Mul(dc, forget), dstate + i);
                break;
            }
            case RecurrentCell::gru: {
                const VF reset = sigmoid_of(g.both(0, i, part));
                const VF update = sigmoid_of(g.both(1, i, part));
                const VF side = g.hidden_side(2, i, part);
                const VF fresh = tanh_of(hn::MulAdd(reset, side, g.input(2, i, part)));
                const VF h = part.load(state + i);
                const VF d_fresh = hn::Mul(hn::Mul(dh, hn::Sub(one(), update)), tanh_slope(fresh));
                const VF d_reset = hn::Mul(hn::Mul(d_fresh, side), logistic_slope(reset));
                const VF d_update = hn::Mul(hn::Mul(dh, hn::Sub(h, fresh)), logistic_slope(update));
                part.store(d_reset, dgx + i);
                part.store(d_update, dgx + n + i);
                part.store(d_fresh, dgx + 2 * n + i);
                part.store(d_reset, dgh + i);
                part.store(d_update, dgh + n + i);
                part.store(hn::Mul(d_fresh, reset), dgh + 2 * n + i);
                part.store(hn::Mul(dh, update), dstate + i);
                break;
            }
        }
    });
}

void forward_rows(const RecurrentStep& step, std::int64_t begin, std::int64_t end) {
    with_vector_type(step.gx.dtype, [&](auto type) {
        for (std::int64_t row = begin; row < end; ++row) forward_row<decltype(type)>(step, row);
    });
}

void gradient_rows(const RecurrentGradient& step, std::int64_t begin, std::int64_t end) {
    with_vector_type(step.gx.dtype, [&](auto type) {
        for (std::int64_t row = begin; row < end; ++row) gradient_row<decltype(type)>(step, row);
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
