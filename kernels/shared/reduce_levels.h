#pragma once

#include "kernels/reduce.h"

namespace kernels {

/// What joins the results of a level: sums of squares and of absolute values are sums from the
/// second one on.
inline ReduceOp joining(ReduceOp op) {
    if (op == ReduceOp::prod || op == ReduceOp::max || op == ReduceOp::min) return op;
    return ReduceOp::sum;
}

}  // namespace kernels
