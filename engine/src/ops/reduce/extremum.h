#pragma once

#include "ops/shape/reduce_plan.h"

namespace engine {

inline constexpr const char* chooses_values =
    "It chooses one of its inputs: nothing is computed, so no precision is lost.";

// NaN if any is NaN. Error(shape) for nothing to choose from.

/// Maximum and minimum over `dims` (empty: all). Equal ones share the gradient; with a NaN among
/// them it is NaN.
Tensor amax(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
inline constexpr Op amax_op(CastPolicy::none, "amax(x; dim=[], keepdim=False)", chooses_values,
                            by_name<amax>);
Tensor amin(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
inline constexpr Op amin_op(CastPolicy::none, "amin(x; dim=[], keepdim=False)", chooses_values,
                            by_name<amin>);
/// Extremes of integers or booleans, outside the tape.
Tensor extremum_of_integers(kernels::ReduceOp op, const Tensor& x, const ReducePlan& plan,
                            bool keepdim);
/// Index of the first least along dim, or of all elements in row-major order, i64; a NaN counts as
/// least.
Tensor argmin(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
inline constexpr Op argmin_op(CastPolicy::none, "argmin(x; dim=None, keepdim=False)",
                              "The result is an index, which has no precision to lose.",
                              by_name<argmin>, no_gradient);

/// dy, with the reduced dimensions kept, divided evenly among the places along `dims` where x
/// equals y; with `nan_too` also where x is NaN. NaN if there is none.
Tensor shared_among_equals(const Tensor& dy, const Tensor& x, const Tensor& y,
                           const std::vector<std::int64_t>& dims, bool nan_too);

}  // namespace engine
