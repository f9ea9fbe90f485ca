#include <cassert>

#include "cpu/elementwise_scalar.h"
#include "cpu/grain.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "shared/elementwise_integers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementwise_unary.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/elementwise_math-inl.h"
#include "cpu/gelu-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE VF neg_of(VF x) { return hn::Neg(x); }
HWY_INLINE VF abs_of(VF x) { return hn::Abs(x); }
HWY_INLINE VF sign_of(VF x) {
    const VF one = hn::Set(DF(), 1.0f);
    const VF zero = hn::Zero(DF());
    return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one),
                   hn::IfThenElseZero(hn::Lt(x, zero), one));
}
HWY_INLINE VF relu6_of(VF x) {  // NaN stays
    const VF six = hn::Set(DF(), 6.0f);
    return hn::IfThenElse(hn::Ge(x, six), six, relu_of(x));
}
HWY_INLINE VF sqrt_of(VF x) { return hn::Sqrt(x); }
HWY_INLINE VF rsqrt_of(VF x) { return hn::Div(hn::Set(DF(), 1.0f), hn::Sqrt(x)); }
HWY_INLINE VF reciprocal_of(VF x) { return hn::Div(hn::Set(DF(), 1.0f), x); }
HWY_INLINE VF square_of(VF x) { return hn::Mul(x, x); }

template <class F>
bool apply(Array y, ConstArray x, std::int64_t begin, std::int64_t n, const F& f) {
    with_vector_type(x.dtype, [&]<typename T>(T) {
        map(static_cast<T*>(y.data) + begin, static_cast<const T*>(x.data) + begin, n, f);
    });
    return true;
}

/// False if the op has no vector form.
bool unary_range(Array y, ConstArray x, UnaryOp op, std::int64_t begin, std::int64_t n) {
    switch (op) {
#define HALFTONE_CPU_scalar(name)
#define HALFTONE_CPU_vector(name) \
    case UnaryOp::name:           \
        return apply(y, x, begin, n, [](VF v) HWY_ATTR { return name##_of(v); });
#define HALFTONE_UNARY(name, cpu, cuda, numbers) HALFTONE_CPU_##cpu(name)
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

HWY_EXPORT(unary_range);

void scalar_range(Array y, ConstArray x, UnaryOp op, std::int64_t begin, std::int64_t end) {
    with_type(x.dtype, [&]<typename T>(T) {
        if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            map_scalar<T>(y, x, begin, end, [&](std::int64_t v) {
                return static_cast<std::int64_t>(integer::unary(op, static_cast<T>(v)));
            });
        } else {
            map_scalar<T>(y, x, begin, end,
                          [&](auto v) { return unary_scalar(op, static_cast<double>(v)); });
        }
    });
}

}  // namespace

void unary(Array y, ConstArray x, UnaryOp op, Stream) {
    assert(y.size == x.size && y.dtype == x.dtype);
    const bool vector = is_floating(x.dtype) && x.dtype != DType::f64;
    parallel_for(x.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (!vector || !HWY_DYNAMIC_DISPATCH(unary_range)(y, x, op, begin, end - begin))
            scalar_range(y, x, op, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
