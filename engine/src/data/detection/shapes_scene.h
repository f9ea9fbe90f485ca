#pragma once

#include <cstdint>
#include <vector>

#include "data/detection/detection_truth.h"
#include "engine/io/picture.h"
#include "tensor/philox.h"

namespace engine {

/// A drawn scene: squares, discs and triangles over one another on one colour, with noise.
struct ShapesScene {
    Picture picture;
    DetectionTruth truth;  ///< of what is visible of each shape
};

/// Classes of the shapes, in the order of their labels, which are from 1.
inline constexpr std::array shape_classes = {"square", "disc", "triangle"};

/// Draws 1 to `most_shapes` shapes on a square of `side` pixels (a multiple of 32). All geometry is
/// in whole numbers, so the bits are the same on every machine. A shape that would leave an earlier
/// one less than 35 % visible is drawn anew, at most ten times, and then left out.
ShapesScene draw_shapes(const RandomStream& random, std::int64_t side, std::int64_t most_shapes);

}  // namespace engine
