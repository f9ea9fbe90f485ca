#pragma once

#include <cstdint>
#include <span>

#include "engine/io/picture.h"

namespace engine {

/// The orientation (1 to 8) in the first directory of EXIF data, which begin with a TIFF header; 1
/// if they do not say, or are damaged.
int exif_orientation(std::span<const std::uint8_t> tiff);

/// The picture as it is to be seen: turned and mirrored as its EXIF orientation says.
Picture upright(Picture picture, int orientation);

}  // namespace engine
