#pragma once

#include "kernels/host_device.h"
#include "kernels/prepare_images.h"

namespace kernels {

/// Which pixel of the image a pixel of the crop shows.
struct Crop {
    std::int64_t down = 0, right = 0;
    bool flip = false;

    /// The image's column behind column w of the crop; it may lie outside of the image.
    HALFTONE_HOST_DEVICE std::int64_t column(std::int64_t w, std::int64_t width) const {
        return (flip ? width - 1 - w : w) + right;
    }
};

/// Draws the crop of sample i of a batch: nothing moves without augmentation.
HALFTONE_HOST_DEVICE inline Crop draw_crop(const ImagePreparation& how, std::int64_t i) {
    constexpr std::int64_t padding = 4;
    constexpr std::uint32_t shifts = 2 * padding + 1;
    if (!how.augment) return {};
    const PhiloxBlock words = how.random.block(how.first + static_cast<std::uint64_t>(i));
    return {static_cast<std::int64_t>(PhiloxStream::to_bounded(words[0], shifts)) - padding,
            static_cast<std::int64_t>(PhiloxStream::to_bounded(words[1], shifts)) - padding,
            (words[2] & 1) != 0};
}

}  // namespace kernels
