#pragma once

#include <span>

#include "data/detection/average_precision.h"
#include "engine/io/picture.h"

namespace engine {

/// Draws masks, filled at 35 %, and boxes in the colours of their classes into the picture, large
/// boxes first. Masks of another size are left out.
void draw_detections(Picture& picture, std::span<const Detection> found);

}  // namespace engine
