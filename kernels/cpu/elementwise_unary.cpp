#include <cassert>

#include "cpu/elementwise_scalar.h"
#include "cpu/grain.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementwise_unary.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/elementwise_math-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

struct Neg {
    VF operator()(VF x) const { return hn::Neg(x); }
};
struct Abs {
    VF operator()(VF x) const { return hn::Abs(x); }
};
struct Sign {
    VF operator()(VF x) const {
        const VF one = hn::Set(DF(), 1.0f);
        const VF zero = hn::Zero(DF());
        return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one),
                       hn::IfThenElseZero(hn::Lt(x, zero), one));
    }
};
struct Sqrt {
    VF operator()(VF x) const { return hn::Sqrt(x); }
};
struct Rsqrt {
    VF operator()(VF x) const { return hn::Div(hn::Set(DF(), 1.0f), hn::Sqrt(x)); }
};
struct Reciprocal {
    VF operator()(VF x) const { return hn::Div(hn::Set(DF(), 1.0f), x); }
};
struct Square {
    VF operator()(VF x) const { return hn::Mul(x, x); }
};
struct Relu {
    VF operator()(VF x) const { return relu_of(x); }
};
struct Exp {
    VF operator()(VF x) const { return exp_of(x); }
};
struct Log {
    VF operator()(VF x) const { return log_of(x); }
};
struct Tanh {
    VF operator()(VF x) const { return tanh_of(x); }
};
struct Sigmoid {
    VF operator()(VF x) const { return sigmoid_of(x); }
};

template <class F>
bool apply(Array y, ConstArray x, std::int64_t begin, std::int64_t n, const F& f) {
    with_vector_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        map(static_cast<T*>(y.data) + begin, static_cast<const T*>(x.data) + begin, n, f);
    });
    return true;
}

/// False if the op has no vector form.
bool unary_range(Array y, ConstArray x, UnaryOp op, std::int64_t begin, std::int64_t n) {
    switch (op) {
        case UnaryOp::neg:
            return apply(y, x, begin, n, Neg());
        case UnaryOp::abs:
            return apply(y, x, begin, n, Abs());
        case UnaryOp::sign:
            return apply(y, x, begin, n, Sign());
        case UnaryOp::sqrt:
            return apply(y, x, begin, n, Sqrt());
        case UnaryOp::rsqrt:
            return apply(y, x, begin, n, Rsqrt());
        case UnaryOp::reciprocal:
            return apply(y, x, begin, n, Reciprocal());
        case UnaryOp::square:
            return apply(y, x, begin, n, Square());
        case UnaryOp::relu:
            return apply(y, x, begin, n, Relu());
        case UnaryOp::exp:
            return apply(y, x, begin, n, Exp());
        case UnaryOp::log:
            return apply(y, x, begin, n, Log());
        case UnaryOp::tanh:
            return apply(y, x, begin, n, Tanh());
        case UnaryOp::sigmoid:
            return apply(y, x, begin, n, Sigmoid());
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
    with_type(x.dtype, [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            map_scalar<T>(y, x, begin, end, [&](std::int64_t v) {
                return static_cast<std::int64_t>(unary_integer(op, static_cast<T>(v)));
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
