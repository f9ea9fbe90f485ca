#pragma once

#include "core/tape.h"

namespace engine {

extern const OpInfo index_info, index_put_info, index_put_inplace_info, take_along_dim_info;

// x[i, j, ...]: one index tensor for each of x's first dimensions, an undefined one for a whole
// dimension, dimensions that are left out whole. The indices broadcast together; they are i64 or
// i32, negative ones count from the end. Their shape stands where the indexed dimensions were, or
// in front where those are not neighbours, as in NumPy. Masks are refused with Error(dtype): how
// many elements they choose would have to be waited for.

/// Elements of x, of any type. An index outside: see gather.h.
Tensor index(const Tensor& x, const TensorList& indices);
/// x with `values` (broadcast to the shape of x[indices]) put there, or added where several meet if
/// `accumulate`: in f32 (f64 for f64), rounded once. Without it the last of several stays. Equal
/// types outside a region.
Tensor index_put(const Tensor& x, const TensorList& indices, const Tensor& values,
                 bool accumulate = false);
/// The in-place form: never cast, so it needs equal types inside a region too. Returns x.
Tensor index_put_(const Tensor& x, const TensorList& indices, const Tensor& values,
                  bool accumulate = false);
/// gather with index and x broadcast against each other in the other dimensions.
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::int64_t dim);

}  // namespace engine
