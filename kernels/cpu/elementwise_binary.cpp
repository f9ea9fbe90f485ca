#include <algorithm>
#include <cassert>

#include "cpu/elementwise_scalar.h"
#include "cpu/grain.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "shared/elementwise_integers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementwise_binary.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/gelu-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE VF add_of(VF a, VF b) { return hn::Add(a, b); }
HWY_INLINE VF sub_of(VF a, VF b) { return hn::Sub(a, b); }
HWY_INLINE VF mul_of(VF a, VF b) { return hn::Mul(a, b); }
HWY_INLINE VF div_of(VF a, VF b) { return hn::Div(a, b); }
HWY_INLINE VF relu_backward_of(VF a, VF b) {
    return hn::IfThenZeroElse(hn::Le(b, hn::Zero(DF())), a);
}
HWY_INLINE VF relu6_backward_of(VF a, VF b) {
    const auto clipped = hn::Or(hn::Le(b, hn::Zero(DF())), hn::Ge(b, hn::Set(DF(), 6.0f)));
    return hn::IfThenZeroElse(clipped, a);
}
HWY_INLINE VF sigmoid_backward_of(VF a, VF b) {
    return hn::Mul(hn::Mul(a, b), hn::Sub(hn::Set(DF(), 1.0f), b));
}
HWY_INLINE VF tanh_backward_of(VF a, VF b) {
    return hn::Mul(a, hn::NegMulAdd(b, b, hn::Set(DF(), 1.0f)));
}

/// An operand of size 1 is expanded to a short run of equal elements, which is read again for each
/// piece of y: one loop serves all three cases.
template <class T>
class Operand {
public:
    Operand(ConstArray x, std::int64_t begin, std::int64_t n)
        : data_(static_cast<const T*>(x.data)), step_(x.size == 1 ? 0 : 1) {
        if (step_ != 0) {
            data_ += begin;
            return;
        }
        std::fill_n(run_, std::min(n, piece), *data_);
        data_ = run_;
    }
    Operand(const Operand&) = delete;
    Operand& operator=(const Operand&) = delete;

    const T* at(std::int64_t i) const { return data_ + i * step_; }
    bool repeats() const { return step_ == 0; }

    static constexpr std::int64_t piece = 512;

private:
    const T* data_;
    std::int64_t step_;
    T run_[piece];
};

template <class F>
bool apply(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t n, const F& f) {
    with_vector_type(a.dtype, [&]<typename T>(T) {
        T* out = static_cast<T*>(y.data) + begin;
        const Operand<T> left(a, begin, n);
        const Operand<T> right(b, begin, n);
        const std::int64_t step = left.repeats() || right.repeats() ? Operand<T>::piece : n;
        for (std::int64_t i = 0; i < n; i += step)
            map(out + i, left.at(i), right.at(i), std::min(step, n - i), f);
    });
    return true;
}

/// False if the op has no vector form.
bool binary_range(Array y, ConstArray a, ConstArray b, BinaryOp op, std::int64_t begin,
                  std::int64_t n) {
    switch (op) {
#define HALFTONE_CPU_scalar(name)
#define HALFTONE_CPU_vector(name) \
    case BinaryOp::name:          \
        return apply(y, a, b, begin, n, [](VF u, VF v) HWY_ATTR { return name##_of(u, v); });
#define HALFTONE_BINARY(name, cpu, cuda, numbers) HALFTONE_CPU_##cpu(name)
#include "kernels/elementwise_functions.inc"
#undef HALFTONE_CPU_scalar
#undef HALFTONE_CPU_vector
        default:
            return false;
    }
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(binary_range);

void scalar_range(Array y, ConstArray a, ConstArray b, BinaryOp op, std::int64_t begin,
                  std::int64_t end) {
    with_type(a.dtype, [&]<typename T>(T) {
        if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            map_scalar<T>(y, a, b, begin, end, [&](std::int64_t u, std::int64_t v) {
                return static_cast<std::int64_t>(
                    integer::binary(op, static_cast<T>(u), static_cast<T>(v)));
            });
        } else {
            map_scalar<T>(y, a, b, begin, end, [&](auto u, auto v) {
                return binary_scalar(op, static_cast<double>(u), static_cast<double>(v));
            });
        }
    });
}

}  // namespace

void binary(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream) {
    assert(a.dtype == y.dtype && b.dtype == y.dtype);
    assert((a.size == y.size || a.size == 1) && (b.size == y.size || b.size == 1));
    const bool vector = is_floating(y.dtype) && y.dtype != DType::f64;
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (!vector || !HWY_DYNAMIC_DISPATCH(binary_range)(y, a, b, op, begin, end - begin))
            scalar_range(y, a, b, op, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
