#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/reduce_part.h"
#include "cpu/scalar_convert.h"

namespace kernels::cpu {
namespace {

double neutral(ReduceOp op) {
    switch (op) {
        case ReduceOp::prod:
            return 1;
        case ReduceOp::max:
            return -std::numeric_limits<double>::infinity();
        case ReduceOp::min:
            return std::numeric_limits<double>::infinity();
        default:
            return 0;
    }
}

double term(ReduceOp op, double v) {
    if (op == ReduceOp::sum_abs) return std::fabs(v);
    if (op == ReduceOp::sum_squares || op == ReduceOp::norm2) return v * v;
    return v;
}

double joined(ReduceOp op, double a, double b) {
    switch (op) {
        case ReduceOp::prod:
            return a * b;
        case ReduceOp::max:
            return std::isnan(a) || a > b ? a : b;
        case ReduceOp::min:
            return std::isnan(a) || a < b ? a : b;
        default:
            return a + b;
    }
}

/// Halves until 128 are left: the error grows with log(n).
template <class T>
double tree(const T* x, std::int64_t n, std::int64_t step, ReduceOp op) {
    if (n > 128) {
        const std::int64_t half = n / 2;
        return joined(op, tree(x, half, step, op), tree(x + half * step, n - half, step, op));
    }
    double result = neutral(op);
    for (std::int64_t i = 0; i < n; ++i) result = joined(op, result, term(op, widen(x[i * step])));
    return result;
}

}  // namespace

void reduce_part_double(double* result, const ReducePart& part, ReduceOp op) {
    with_type(part.x.dtype, [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_same_v<decltype(widen(type)), double>) {
            const T* first = static_cast<const T*>(part.x.data) + part.slice +
                             part.begin * part.inner + part.col;
            for (std::int64_t c = 0; c < part.width; ++c)
                result[c] = tree(first + c, part.end - part.begin, part.inner, op);
        }
    });
}

}  // namespace kernels::cpu
