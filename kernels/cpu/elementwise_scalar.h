#pragma once

#include <cstdint>

#include "cpu/scalar_convert.h"
#include "kernels/elementwise.h"

namespace kernels::cpu {

/// op(x) in double: all of f64, and those functions of the narrower floats that have no vector
/// form.
double unary_scalar(UnaryOp op, double x);
double binary_scalar(BinaryOp op, double a, double b);

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
