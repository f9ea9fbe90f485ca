#pragma once

#include <array>

#include "ops/detection/box_parts.h"

namespace engine {

/// The anchors of a feature pyramid: (A, 4), f32 whatever the maps' type, in the order level, row,
/// column, ratio. `maps` gives the grids, (N, C, h, w) a level; `canvas` is (height, width) of the
/// pictures, `sizes` a side for each level. Each place of a grid has three anchors of that area,
/// with heights over widths of 0.5, 1 and 2, rounded half to even; its stride is the canvas over
/// the grid, rounded down, for each axis. Anchors may lie over the edge. No gradient. Source:
/// torchvision's AnchorGenerator.
Tensor anchors(const TensorList& maps, const std::array<std::int64_t, 2>& canvas,
               const std::vector<double>& sizes);
inline constexpr Op anchors_op(
    CastPolicy::none, "anchors(maps[]; canvas, sizes)",
    "Always fp32, for maps of any type: bf16 would move anchors by pixels.", by_name<anchors>,
    no_gradient);
/// Anchors of one place of a grid.
inline constexpr std::int64_t anchor_ratios = 3;
/// The anchors of a size around (0, 0): left, top, right, bottom.
std::array<std::array<float, 4>, anchor_ratios> anchor_cells(float size);

}  // namespace engine
