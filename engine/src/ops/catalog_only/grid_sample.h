#pragma once

#include "engine/base/names.h"
#include "tensor/tape.h"

namespace engine {

inline constexpr const char* places_need_precision =
    "Needs one type: both sides go to the wider, so that places keep their precision.";

enum class GridMode { bilinear, nearest, bicubic };
enum class GridPadding { zeros, border, reflection };
template <>
inline constexpr std::array enum_names<GridMode> = {"bilinear", "nearest", "bicubic"};
template <>
inline constexpr std::array enum_names<GridPadding> = {"zeros", "border", "reflection"};

/// x (N, C, H, W) read at the places grid (N, OH, OW, 2), or x (N, C, D, H, W) at (N, OD, OH, OW,
/// 3). Coordinates (x, y, z) are -1 and 1 at the ends of an axis: with `align_corners` at the
/// centres of its outermost elements, else at their outer edges. y (N, C, OH, OW), channels last in
/// memory. A place outside reads zeros, the nearest element inside or the mirror image. bicubic is
/// for images only. Needs one type outside a region; inside, both sides are cast to the wider.
/// Computed in f32 (f64 for f64), rounded once.
///
/// As in PyTorch's CUDA kernels, a place that is NaN, or infinite without clipping, reads zeros;
/// with the other paddings it reads the first element and has no gradient; bicubic gives NaN. An
/// element with weight 0 is multiplied, but a place outside is left out.
///
/// Throws Error(shape), Error(dtype), Error(value).
Tensor grid_sample(const Tensor& x, const Tensor& grid, GridMode mode = GridMode::bilinear,
                   GridPadding padding = GridPadding::zeros, bool align_corners = false);
TensorList run_grid_sampler(const Op& op, const OpArguments& args);
inline constexpr Op grid_sampler_op(
    CastPolicy::promote,
    "grid_sampler(x, grid; interpolation_mode=0, padding_mode=0, align_corners=False)",
    places_need_precision, run_grid_sampler, not_forced);
inline constexpr Op grid_sample_op(
    CastPolicy::promote,
    "grid_sample(x, grid; mode='bilinear', padding_mode='zeros', align_corners=False)",
    places_need_precision, by_name<grid_sample>);

}  // namespace engine
