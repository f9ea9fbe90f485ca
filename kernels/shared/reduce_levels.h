#pragma once

#include "kernels/reduce.h"

namespace kernels {

/// The operation that joins the results of a level: sums of squares and of absolute values are
/// plain sums from the second level on.
inline ReduceOp joining(ReduceOp op) {
    if (op == ReduceOp::prod || op == ReduceOp::max || op == ReduceOp::min) return op;
    return ReduceOp::sum;
}

}  // namespace kernels
