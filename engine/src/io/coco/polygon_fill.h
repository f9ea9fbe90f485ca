#pragma once

#include <span>
#include <vector>

#include "io/coco/run_length.h"

namespace engine {

/// The parts of a mask, each a closed polygon: x, y, x, y, ... in pixels, at least three points.
using MaskPolygons = std::vector<std::vector<double>>;

/// The pixels within the polygons, as pycocotools rasterises them, bit for bit where the
/// coordinates are below 2^26. Pixel (x, y) has its centre at (x + 0.5, y + 0.5). Time and memory
/// grow with the width times the edges, not with the coordinates.
RunLength fill_polygons(const MaskPolygons& parts, std::int32_t height, std::int32_t width);
RunLength fill_polygon(std::span<const double> points, std::int32_t height, std::int32_t width);

}  // namespace engine
