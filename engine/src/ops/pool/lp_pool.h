#pragma once

#include "ops/pool/pool_space.h"

namespace engine {

extern const OpInfo lp_pool1d_info, lp_pool2d_info, lp_pool3d_info;

// (sum of x^p over each window)^(1/p), p > 0. Only the options kernel, stride and ceil_mode are
// used; a window that overlaps the edge counts as full. No autocast entry, but it is composed of
// pow, which has one: in a region the result is f32. Otherwise x's type, rounded once. The gradient
// of a window whose sum is 0 is 0.

Tensor lp_pool1d(const Tensor& x, double p, const PoolOptions& options);
Tensor lp_pool2d(const Tensor& x, double p, const PoolOptions& options);
Tensor lp_pool3d(const Tensor& x, double p, const PoolOptions& options);

}  // namespace engine
