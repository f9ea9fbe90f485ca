#pragma once

#include "ops/pool/pool.h"

namespace engine {

inline constexpr const char* of_powers =
    "Not on the list itself, but built of pow, which is: so fp32 under autocast.";

// (sum of x^p over each window)^(1/p), p > 0. Only the options kernel, stride and ceil_mode are
// used; a window that overlaps the edge counts as full. No autocast entry, but it is composed of
// pow, which has one: in a region the result is f32. Otherwise x's type, rounded once. The gradient
// of a window whose sum is 0 is 0.

Tensor lp_pool1d(const Tensor& x, double p, const PoolOptions& options);
inline constexpr Op lp_pool1d_op(
    CastPolicy::none, "lp_pool1d(x; norm_type=2, kernel_size=2, stride=None, ceil_mode=False)",
    of_powers, by_name<lp_pool1d>);
Tensor lp_pool2d(const Tensor& x, double p, const PoolOptions& options);
inline constexpr Op lp_pool2d_op(
    CastPolicy::none, "lp_pool2d(x; norm_type=2, kernel_size=2, stride=None, ceil_mode=False)",
    of_powers, by_name<lp_pool2d>);
Tensor lp_pool3d(const Tensor& x, double p, const PoolOptions& options);
inline constexpr Op lp_pool3d_op(
    CastPolicy::none, "lp_pool3d(x; norm_type=2, kernel_size=2, stride=None, ceil_mode=False)",
    of_powers, by_name<lp_pool3d>);

}  // namespace engine
