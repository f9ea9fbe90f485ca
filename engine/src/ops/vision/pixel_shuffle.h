#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo pixel_shuffle_info, pixel_unshuffle_info, channel_shuffle_info;

/// (..., C r^2, H, W) to (..., C, H r, W r). Any type.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
/// (..., C, H r, W r) to (..., C r^2, H, W).
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);
/// (N, C, ...): channel g n + k goes to k groups + g, with n = C / groups.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

}  // namespace engine
