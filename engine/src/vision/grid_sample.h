#pragma once

#include <string>

#include "core/tape.h"

namespace engine {

extern const OpInfo grid_sampler_info, grid_sample_info;

enum class GridMode { bilinear, nearest, bicubic };
enum class GridPadding { zeros, border, reflection };

/// x (N, C, H, W) read at the places grid (N, OH, OW, 2), or x (N, C, D, H, W) at (N, OD, OH, OW,
/// 3): coordinates (x, y, z) with -1 and 1 at the ends of an axis: the middles of its outermost
/// elements with `align_corners`, else their outer edges. y (N, C, OH, OW), in memory channels
/// last. A place outside reads zeros, the nearest element inside or the mirror image. bicubic is
/// for images alone. Needs one type outside a region; inside both sides go to the wider. Computed
/// in f32 (f64 for f64), rounded once.
///
/// As in PyTorch's CUDA kernels a place that is no number, or infinite where nothing clips it,
/// reads zeros, or with the other paddings the first element and has no gradient; bicubic gives
/// NaN. A weight of 0 is multiplied, but a place outside is left out.
///
/// Throws Error(shape), Error(dtype), Error(value).
Tensor grid_sample(const Tensor& x, const Tensor& grid, GridMode mode = GridMode::bilinear,
                   GridPadding padding = GridPadding::zeros, bool align_corners = false);

}  // namespace engine
