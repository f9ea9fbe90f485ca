#pragma once

#include "kernels/host_device.h"
#include "kernels/mask_targets.h"

namespace kernels {

/// The bitmap of one instance, read.
struct InstanceBits {
    std::int64_t left = 0, top = 0, width = 0, height = 0, stride = 0;
    const std::uint64_t* words = nullptr;  ///< null: there is none

    /// The row's words; null outside of the crop.
    HALFTONE_HOST_DEVICE const std::uint64_t* row(std::int64_t y) const {
        return y >= top && y - top < height ? words + (y - top) * stride : nullptr;
    }
    HALFTONE_HOST_DEVICE bool at(const std::uint64_t* row, std::int64_t x) const {
        if (x < left || x - left >= width) return false;
        return (row[(x - left) / 64] >> ((x - left) % 64) & 1) != 0;
    }
};

HALFTONE_HOST_DEVICE inline InstanceBits find_instance(const MaskBits& masks, std::int64_t image,
                                                       std::int64_t instance) {
    if (instance < 0 || instance >= masks.instances) return {};
    const std::int64_t* place = masks.places + (image * masks.instances + instance) * 5;
    const std::int64_t width = place[2], height = place[3], first = place[4];
    if (width < 1 || height < 1 || first < 0 || first > masks.words) return {};
    const std::int64_t stride = (width - 1) / 64 + 1;
    if (stride > masks.words || height > (masks.words - first) / stride) return {};
    return {place[0], place[1], width, height, stride, masks.bits + image * masks.words + first};
}

}  // namespace kernels
