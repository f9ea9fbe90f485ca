#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cpu/scalar_convert.h"
#include "kernels/elementwise.h"

namespace kernels::cpu {

/// op(x) in double: all of f64, and those functions of the narrower floats that have no vector
/// form.
double unary_scalar(UnaryOp op, double x);
double binary_scalar(BinaryOp op, double a, double b);

/// Integer arithmetic wraps around; a quotient by 0 is 0.
template <class T>
T unary_integer(UnaryOp op, T x) {
    using U = std::make_unsigned_t<T>;
    const U u = static_cast<U>(x);
    switch (op) {
        case UnaryOp::neg:
            return static_cast<T>(U{0} - u);
        case UnaryOp::abs:
            return x < 0 ? static_cast<T>(U{0} - u) : x;
        case UnaryOp::sign:
            return static_cast<T>((x > 0) - (x < 0));
        default:
            return static_cast<T>(u * u);
    }
}

template <class T>
T binary_integer(BinaryOp op, T a, T b) {
    using U = std::make_unsigned_t<T>;
    const U u = static_cast<U>(a);
    const U v = static_cast<U>(b);
    switch (op) {
        case BinaryOp::add:
            return static_cast<T>(u + v);
        case BinaryOp::sub:
            return static_cast<T>(u - v);
        case BinaryOp::mul:
            return static_cast<T>(u * v);
        case BinaryOp::div:
            if (b == 0) return 0;
            return b == -1 ? static_cast<T>(U{0} - u) : static_cast<T>(a / b);
        case BinaryOp::maximum:
            return a > b ? a : b;
        default:
            return a < b ? a : b;
    }
}

/// y[i] = narrow(f(widen(x[i]))) of any floating T.
template <class T, class F>
void map_scalar(Array y, ConstArray x, std::int64_t begin, std::int64_t end, const F& f) {
    auto* out = static_cast<T*>(y.data);
    const auto* in = static_cast<const T*>(x.data);
    for (std::int64_t i = begin; i < end; ++i) out[i] = narrow<T>(f(widen(in[i])));
}

/// y[i] = narrow(f(widen(a[i]), widen(b[i]))); a or b of size 1 stands for every i.
template <class T, class F>
void map_scalar(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end,
                const F& f) {
    auto* out = static_cast<T*>(y.data);
    const auto* left = static_cast<const T*>(a.data);
    const auto* right = static_cast<const T*>(b.data);
    const std::int64_t step_a = a.size == 1 ? 0 : 1;
    const std::int64_t step_b = b.size == 1 ? 0 : 1;
    for (std::int64_t i = begin; i < end; ++i)
        out[i] = narrow<T>(f(widen(left[i * step_a]), widen(right[i * step_b])));
}

}  // namespace kernels::cpu
