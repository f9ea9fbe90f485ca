#pragma once

#include <cstdint>

#include "kernels/reduce.h"

namespace kernels::cpu {

/// A piece of a reduction: columns [col, col + width) of the rows [begin, end) of one (n, inner)
/// slice.
struct ReducePart {
    ConstArray x;
    std::int64_t slice;  ///< elements before the slice
    std::int64_t begin, end, inner, col, width;
};

/// result[0 .. width) in double, of any floating dtype; mean and norm2 give the sums they need.
void reduce_part_double(double* result, const ReducePart& part, ReduceOp op);

/// `reduce` where x and y are i64.
void reduce_integers(Array y, ConstArray x, std::int64_t n, std::int64_t inner, ReduceOp op);

}  // namespace kernels::cpu
