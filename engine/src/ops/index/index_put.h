#pragma once

#include "tensor/tape.h"

namespace engine {

// x[i, j, ...]: one index tensor for each of x's first dimensions; an undefined one takes the whole
// dimension, as do dimensions left out.
//
// - The indices broadcast together. They are i64 or i32; negative ones count from the end.
// - As in NumPy, their common shape replaces the indexed dimensions, or comes first if those are
//   not neighbours.
// - Masks are Error(dtype): the number of elements they select would require waiting for the
//   device.

/// Elements of x, of any type. An index outside: see gather.h.
Tensor index(const Tensor& x, const TensorList& indices);
inline constexpr Op index_op(CastPolicy::none, "index(x, indices[])",
                             "Copies values: nothing is lost in its input's type.", by_name<index>,
                             not_forced);
/// x with `values` (broadcast to the shape of x[indices]) written there. With `accumulate` values
/// at one place are added, in f32 (f64 for f64), and rounded once; without it the last one stays.
/// Equal types outside a region.
Tensor index_put(const Tensor& x, const TensorList& indices, const Tensor& values,
                 bool accumulate = false);
inline constexpr Op index_put_op(
    CastPolicy::promote, "index_put(x, indices[], values; accumulate=False)",
    "Needs one type: both sides go to the wider, so that an fp32 side loses nothing.",
    by_name<index_put>, not_forced);
/// The in-place form: never cast, so it needs equal types inside a region too. Returns x.
Tensor index_put_(const Tensor& x, const TensorList& indices, const Tensor& values,
                  bool accumulate = false);
inline constexpr Op index_put_inplace_op(
    CastPolicy::none, "index_put_(x, indices[], values; accumulate=False)",
    "In-place forms are never cast: both sides must have one type, under autocast too.",
    by_name<index_put_>, not_forced);
/// gather with index and x broadcast against each other in the other dimensions.
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::int64_t dim);
inline constexpr Op take_along_dim_op(CastPolicy::none, "take_along_dim(x, index; dim=0)",
                                      "Copies values: nothing is lost in its input's type.",
                                      by_name<take_along_dim>, not_forced);

}  // namespace engine
