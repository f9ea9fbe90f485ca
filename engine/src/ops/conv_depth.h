#pragma once

#include "ops/conv_parts.h"

namespace engine {

// Volumes (N, C, D, H, W) as images, outside the tape. Images are (N depth, C, H, W) in NHWC
// memory; with the taps beside one another channel c of tap t is c taps + t, so that groups stay
// together.

/// The input slices that each output slice sees: (N depth_out, C taps, H, W), zeros for the
/// padding.
Tensor gather_depth(const Tensor& x, const ConvShape& s);
/// The output slices that each input slice went into: (N depth, K taps, OH, OW), zeros where a tap
/// met none.
Tensor spread_depth(const Tensor& dy, const ConvShape& s);
/// Slices as images and back.
Tensor slices_of(const Tensor& volume);
Tensor volume_of(const Tensor& slices, std::int64_t depth);

/// The shapes of the two convolutions of images that a convolution of volumes is: over gathered
/// inputs, and, for its input's gradient, over spread outputs.
kernels::Conv2dShape gathered_shape(const ConvShape& s);
kernels::Conv2dShape spread_shape(const ConvShape& s);
/// (K, C / groups, taps, R, S) as the weights of the first, (K, C / groups taps, R, S), and of the
/// second, (K taps, C / groups, R, S).
Tensor gathered_weight(const Tensor& weight);
Tensor spread_weight(const Tensor& weight);

}  // namespace engine
