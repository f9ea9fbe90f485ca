#pragma once

#include <cmath>
#include <limits>

#include "kernels/host_device.h"
#include "kernels/reduce.h"
#include "shared/elementwise_integers.h"

namespace kernels {

/// The result of a reduction from the sum that it needs: a mean divides it by the number of terms,
/// norm2 takes its root; the others are their sum.
template <class W>
HALFTONE_HOST_DEVICE inline W finish_reduction(W sum, double terms, ReduceOp op) {
    if (op == ReduceOp::mean) return sum / static_cast<W>(terms);
    if (op == ReduceOp::norm2) return std::sqrt(sum);
    return sum;
}

/// The operation that joins the results of a level: sums of squares and of absolute values are
/// plain sums from the second level on.
inline ReduceOp joining(ReduceOp op) {
    if (op == ReduceOp::prod || op == ReduceOp::max || op == ReduceOp::min) return op;
    return ReduceOp::sum;
}

}  // namespace kernels

/// `reduce` of i64, on every backend. Sums and products wrap around, so their order does not matter.
namespace kernels::integer {

HALFTONE_HOST_DEVICE inline std::int64_t neutral(ReduceOp op) {
    if (op == ReduceOp::prod) return 1;
    if (op == ReduceOp::max) return std::numeric_limits<std::int64_t>::min();
    if (op == ReduceOp::min) return std::numeric_limits<std::int64_t>::max();
    return 0;
}
HALFTONE_HOST_DEVICE inline std::int64_t joined(ReduceOp op, std::int64_t a, std::int64_t b) {
    if (op == ReduceOp::prod) return mul(a, b);
    if (op == ReduceOp::max) return maximum(a, b);
    if (op == ReduceOp::min) return minimum(a, b);
    return add(a, b);
}

}  // namespace kernels::integer
