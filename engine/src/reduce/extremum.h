#pragma once

#include "core/tape.h"

namespace engine {

extern const OpInfo amax_info, amin_info, argmin_info;

// NaN if any is NaN. Error(shape) for nothing to choose from.

/// Largest and least over `dims` (empty: all). Equal ones share the gradient; beside a NaN it is
/// NaN.
Tensor amax(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
/// Index of the first least along dim, i64; a NaN counts as least.
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim = false);

/// dy, of the kept dimensions, divided evenly among the places where x is y, along `dims`; with
/// `nan_too` also those where x is NaN. Where there is none: NaN.
Tensor shared_among_equals(const Tensor& dy, const Tensor& x, const Tensor& y,
                           const std::vector<std::int64_t>& dims, bool nan_too);

}  // namespace engine
