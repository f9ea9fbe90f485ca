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

/// First-order recurrence along n of (outer, n, inner):
///
///   y[o, k, i] = b[o, k, i] + a[o, k, i] * y[o, k - 1, i],  y[o, 0, i] = b[o, 0, i];
///
/// with `reverse` from the last k to the first, with y[k + 1] instead of y[k - 1]. Without a (data
/// null) each factor is 1: the cumulative sum of b. Without b: the cumulative product of a. At
/// least one of them is required. a, b of one floating dtype; y of that dtype or f32 (f64 for f64),
/// and not overlapping a or b. The recurrence runs in f32 (f64 for f64); each y is rounded once,
/// and the recurrence continues from the value before that rounding. Or all of i64, where sums and
/// products wrap around.
///
/// On CUDA long rows are split among threads, whose parts are joined in a fixed order. The product
/// of a part's factors may overflow although the recurrence itself is 0 there: then the result is
/// NaN.
using Scan = void(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
                  std::int64_t inner, bool reverse, Stream stream);
HALFTONE_KERNEL(Scan, scan);

}  // namespace kernels
