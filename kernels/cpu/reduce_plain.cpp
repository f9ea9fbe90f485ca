#include <cassert>
#include <limits>
#include <type_traits>

#include "cpu/first_largest.h"
#include "cpu/formula_double.h"
#include "cpu/grain.h"
#include "cpu/reduce_part.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"
#include "kernels/reduce.h"
#include "shared/reduce_steps.h"

// Reductions in plain loops: of f64, of i64, and the place of the largest.
namespace kernels::cpu {
namespace wide {
namespace {

#define HALFTONE_FORMULA
#include "shared/reduce_ops.inc"
#undef HALFTONE_FORMULA

/// Halves until 128 are left: the error grows with log(n).
template <class Op, class T>
double tree(const T* x, std::int64_t n, std::int64_t step) {
    if (n > 128) {
        const std::int64_t half = n / 2;
        return Op()(tree<Op>(x, half, step), tree<Op>(x + half * step, n - half, step));
    }
    double result = Op::template neutral<double>();
    for (std::int64_t i = 0; i < n; ++i) result = Op()(result, Op::term(widen(x[i * step])));
    return result;
}

}  // namespace
}  // namespace wide

void reduce_part_double(double* result, const ReducePart& part, ReduceOp op) {
    with_type(part.x.dtype, [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_same_v<decltype(widen(type)), double>) {
            const T* first = static_cast<const T*>(part.x.data) + part.slice +
                             part.begin * part.inner + part.col;
            wide::with_reduce_op(op, [&](auto of) {
                for (std::int64_t c = 0; c < part.width; ++c)
                    result[c] =
                        wide::tree<decltype(of)>(first + c, part.end - part.begin, part.inner);
            });
        }
    });
}

void reduce_integers(Array y, ConstArray x, std::int64_t n, std::int64_t inner, ReduceOp op) {
    const auto* from = static_cast<const std::int64_t*>(x.data);
    auto* to = static_cast<std::int64_t*>(y.data);
    parallel_for(y.size, row_grain(n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t* column = from + i / inner * n * inner + i % inner;
            std::int64_t value = integer::neutral(op);
            for (std::int64_t k = 0; k < n; ++k)
                value = integer::joined(op, value, column[k * inner]);
            to[i] = value;
        }
    });
}

void arg_max(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
             Stream) {
    assert(y.dtype == DType::i64 && x.size == outer * n * inner);
    if (n == 0) return;
    parallel_for(outer * inner, row_grain(n), [&](std::int64_t begin, std::int64_t end) {
        with_type(x.dtype, [&]<typename T>(T) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T* first = static_cast<const T*>(x.data) + i / inner * n * inner + i % inner;
                static_cast<std::int64_t*>(y.data)[i] = first_largest(first, n, inner);
            }
        });
    });
}

}  // namespace kernels::cpu
