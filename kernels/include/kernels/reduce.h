#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

enum class ReduceOp { sum, mean, prod, max, min, sum_abs, sum_squares, norm2 /* sqrt(sum x^2) */ };

/// x seen as (outer, n, inner): y[o, i] = op over n of x[o, :, i]. Empty n: the neutral element
/// (mean: NaN). x floating, y of x's dtype or f32 (f64 for f64) or f64; accumulates in f32 (f64 for
/// f64 or where y is f64), in blocks of at most 128 so that the error grows with log(n), not with
/// n. One rounding at the store. norm2 does not overflow for f16 inputs. max, min: NaN if any is
/// NaN. Or x and y i64, for sum, prod, max and min: sums and products wrap around.
using Reduce = void(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                    ReduceOp op, Stream stream);
HALFTONE_KERNEL(Reduce, reduce);

/// y[o, i] = index of the first largest x[o, :, i]; y i64; a NaN counts as largest. n > 0.
using ArgMax = void(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                    Stream stream);
HALFTONE_KERNEL(ArgMax, arg_max);

}  // namespace kernels
