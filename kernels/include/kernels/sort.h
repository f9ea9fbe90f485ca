#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// y[o, k, i] = the place in x[o, :, i] of its k-th element in ascending, or descending, order; y
/// i64, x of any dtype. Stable: equal elements keep their order, also when descending. NaN counts
/// as larger than everything, -0 as equal to 0.
using SortOrder = void(Array y, ConstArray x, std::int64_t outer, std::int64_t n,
                       std::int64_t inner, bool descending, Stream stream);
HALFTONE_KERNEL(SortOrder, sort_order);

}  // namespace kernels
