#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// One dimension of a dense tensor, and the dimension of indices that replaces it: (outer, n,
/// inner) on the indexed side, (outer, m, inner) on the other.
struct IndexSpan {
    std::int64_t outer, n, m, inner;
    bool holes = false;  ///< an index of -1 is a hole: read as zero, and nothing is added there
};

/// How the terms of one element are combined.
enum class IndexFold {
    last,  ///< the last of them, its bits as they are
    sum,
    prod,
    mean,
    max,  ///< NaN if any is NaN
    min
};

// Indices are i64. The caller checks that they are in [0, n), holes apart
// (kernels/deferred_error.h), but does not wait for a device, so an out-of-range index is no error
// here. It reads as NaN (integers: 0). As the target of a fold it makes the whole result NaN
// (integers: 0), since its place is unknown.

/// y[o, i, c] = x[o, index[i], c]; y (outer, m, inner), x (outer, n, inner), index (m). One dtype,
/// bits as they are.
using IndexSelect = void(Array y, ConstArray x, ConstArray index, const IndexSpan& span,
                         Stream stream);
HALFTONE_KERNEL(IndexSelect, index_select);
/// y[o, i, c] = x[o, index[o, i, c], c]; index of y's shape.
using Gather = IndexSelect;
HALFTONE_KERNEL(Gather, gather);

/// y[o, j, c] = fold of the x[o, i, c] with index[i] = j, preceded by base[o, j, c] if `with_base`;
/// base if there are none. y, base (outer, n, inner), y may be base; x (outer, m, inner), index
/// (m). One dtype: any for last; floating, i64 or i32 for the others, and floating for mean.
///
/// The terms are folded in the order of i, in every run and on every device. f16, bf16 and f32
/// compute in f32 and round once, f64 in f64, integers wrap around. Sums add up pieces of 256 terms
/// first, so that long ones keep their precision.
using IndexReduce = void(Array y, ConstArray base, ConstArray x, ConstArray index,
                         const IndexSpan& span, IndexFold fold, bool with_base, Stream stream);
HALFTONE_KERNEL(IndexReduce, index_reduce);
/// Reduces with an index for each element of x: y[o, j, c] = fold of the x[o, i, c] with index[o,
/// i, c] = j.
using ScatterReduce = IndexReduce;
HALFTONE_KERNEL(ScatterReduce, scatter_reduce);

}  // namespace kernels
