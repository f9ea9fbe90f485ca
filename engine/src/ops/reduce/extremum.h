#pragma once

#include "ops/shape/reduce_plan.h"

namespace engine {

extern const OpInfo amax_info, amin_info, argmin_info;

// NaN if any is NaN. Error(shape) for nothing to choose from.

/// Maximum and minimum over `dims` (empty: all). Equal ones share the gradient; with a NaN among
/// them it is NaN.
Tensor amax(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
/// Extremes of integers or booleans, outside the tape.
Tensor extremum_of_integers(kernels::ReduceOp op, const Tensor& x, const ReducePlan& plan,
                            bool keepdim);
/// Index of the first least along dim, i64; a NaN counts as least.
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim = false);

/// dy, with the reduced dimensions kept, divided evenly among the places along `dims` where x
/// equals y; with `nan_too` also where x is NaN. NaN if there is none.
Tensor shared_among_equals(const Tensor& dy, const Tensor& x, const Tensor& y,
                           const std::vector<std::int64_t>& dims, bool nan_too);

}  // namespace engine
