#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// First-order recurrence along n of (outer, n, inner):
///   y[o, k, i] = b[o, k, i] + a[o, k, i] * y[o, k - 1, i],  y[o, 0, i] = b[o, 0, i];
/// with `reverse` it runs from the last k to the first, y[k + 1] in place of y[k - 1]. Without a
/// (data null) each factor is 1: the cumulative sum of b. Without b: the cumulative product of a.
/// At least one of them is given. a, b of one floating dtype; y of that dtype or f32 (f64 for f64),
/// and not over a or b. The recurrence runs in f32 (f64 for f64); each y is rounded once, and it
/// goes on from the value before that rounding.
/// On CUDA long rows are cut among threads, whose parts are joined in a fixed order; the product of
/// a part's factors may overflow where the recurrence itself, being 0 there, would not: then NaN.
using Scan = void(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
                  std::int64_t inner, bool reverse, Stream stream);
HALFTONE_KERNEL(Scan, scan);

}  // namespace kernels
