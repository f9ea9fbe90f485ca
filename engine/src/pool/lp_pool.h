#pragma once

#include "pool/pool_space.h"

namespace engine {

extern const OpInfo lp_pool1d_info, lp_pool2d_info, lp_pool3d_info;

// (sum of x^p over each window)^(1/p), p > 0; of the options only kernel, stride and ceil_mode, and
// a window that hangs over the edge counts as full. No autocast entry, but pow, which it is made
// of, has one: in a region the result is f32. Otherwise of x's type, rounded once. The gradient of
// a window whose sum is 0 is 0.

Tensor lp_pool1d(const Tensor& x, double p, const PoolOptions& options);
Tensor lp_pool2d(const Tensor& x, double p, const PoolOptions& options);
Tensor lp_pool3d(const Tensor& x, double p, const PoolOptions& options);

}  // namespace engine
