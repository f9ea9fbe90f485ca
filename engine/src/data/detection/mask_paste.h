#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/detection/average_precision.h"

namespace engine {

/// Where a detected mask is above one half in its picture, by torchvision's rules.
///
/// probabilities   (side, side) f32, row-major
/// corners         x1, y1, x2, y2 of the detection in pixels of the picture; may lie outside of it
///
/// The mask gets a frame of zeros, its box grows alike and is truncated to whole pixels; the
/// values between are bilinear. Takes time by the columns in the picture, not by the pixels.
RunLength paste_mask(std::span<const float> probabilities, const std::array<float, 4>& corners,
                     std::int32_t height, std::int32_t width);

/// Sizes of a picture: as the model has seen it, and as it is stored.
struct PictureSizes {
    std::int32_t height = 0, width = 0;
    std::int32_t stored_height = 0, stored_width = 0;
};

/// The detections of a picture in pixels of the stored picture.
///
/// rows      (count, columns) f32: x1, y1, x2, y2 in pixels of the resized picture, score, label
///           (0: an empty row), then a square of mask probabilities
/// columns   6 without masks
std::vector<Detection> place_detections(std::span<const float> rows, std::size_t columns,
                                        const PictureSizes& sizes);

}  // namespace engine
