#pragma once

#include <array>

#include "ops/pool/pool.h"

namespace engine {

extern const OpInfo fractional_max_pool2d_info;

/// Maximum over windows of size `kernel`, whose places follow from samples in [0, 1) (Graham,
/// "Fractional Max-Pooling"). x (N, C, H, W) or (C, H, W); samples (N, C, 2) or (C, 2) of x's type,
/// for columns and rows, without a gradient. Window i of n starts at floor((i + sample) a) -
/// floor(sample a), a = (in - kernel) / (n - 1); the last one ends at the edge. Indices as in
/// max_pool2d.
WithIndices fractional_max_pool2d(const Tensor& x, const Tensor& samples,
                                  const std::array<std::int64_t, 2>& kernel,
                                  const std::array<std::int64_t, 2>& size, bool indices = false);

}  // namespace engine
