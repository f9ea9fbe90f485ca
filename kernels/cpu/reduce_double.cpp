#include <limits>
#include <type_traits>

#include "cpu/formula_double.h"
#include "cpu/reduce_part.h"
#include "cpu/scalar_convert.h"

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

}  // namespace kernels::cpu
