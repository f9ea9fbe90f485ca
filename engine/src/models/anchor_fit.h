#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/dataset_preview.h"

namespace engine {

/// The share of the boxes whose best anchor overlaps them by an IoU under 0.3, at sizes of a feature
/// pyramid's five maps: such a box is learnt from anchors that hardly lie on it. 0 without boxes.
double share_without_anchor(std::span<const BoxPreview> boxes,
                            const std::vector<std::int64_t>& sizes);

/// Sizes, each twice the one before, that leave the fewest boxes without an anchor.
std::vector<std::int64_t> fitting_anchor_sizes(std::span<const BoxPreview> boxes);

}  // namespace engine
