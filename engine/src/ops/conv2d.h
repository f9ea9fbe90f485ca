#pragma once

#include <array>

#include "core/autograd.h"

namespace engine {

extern const OpInfo conv2d_info;

struct Conv2dOptions {
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};  // height, width
    std::int64_t groups = 1;
};

/// Cross-correlation: x (N, C, H, W), weight (K, C / groups, R, S), bias (K) or undefined ->
/// (N, K, OH, OW) in NHWC memory, OH = (H + 2 padding - dilation (R - 1) - 1) / stride + 1. All of
/// one floating type, sums in f32 (f64 for f64), one rounding at the end.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

}  // namespace engine
