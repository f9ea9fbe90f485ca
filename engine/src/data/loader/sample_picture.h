#pragma once

#include <span>

#include "data/schema.h"
#include "engine/io/picture.h"

namespace engine {

/// An image of a sample (values of 0 to 1, rows of pixels) as a picture: its first three channels;
/// of one or two channels the first one, as grey. Values outside of the range become black or full.
Picture picture_of_pixels(const FieldSpec& image, std::span<const float> pixels);

}  // namespace engine
