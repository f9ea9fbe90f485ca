#pragma once

#include "tensor/tape.h"

namespace engine {

/// Reads single anchors from level maps: maps (N, groups K, h, w), where an anchor of a place has K
/// neighbouring channels, and index (M) i64, numbers of anchors among all N A in the order picture,
/// level, row, column, group, as balanced_sample() gives them. (M, K) of the maps' type; -1 gives
/// zeros. An out-of-range number is Error(value), on a GPU at the next read.
Tensor gather_anchors(const TensorList& maps, const Tensor& index, std::int64_t groups);
inline constexpr Op gather_anchors_op(CastPolicy::none, "gather_anchors(maps[], index; groups=3)",
                                      "Copies values: nothing is lost in its input's type.",
                                      by_name<gather_anchors>, not_forced);

}  // namespace engine
