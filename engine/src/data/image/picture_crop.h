#pragma once

#include "data/schema.h"
#include "engine/io/picture.h"

namespace engine {

/// The box that torchvision's RandomResizedCrop takes: 8 to 100 % of the area, sides in the ratio
/// 3:4 to 4:3; where ten draws do not fit into the picture, the largest box in its middle. The
/// sample at position p of epoch e takes blocks 16p to 16p + 9 of RandomStream(seed,
/// StreamId::picture_crop, e), one a draw: area, ratio, top, left.
PictureBox random_box(int width, int height, const SamplePlace& place);

/// Whether the sample is mirrored: by the word that CropAndFlip takes for it.
bool is_flipped(const SamplePlace& place);

/// Left and right exchanged.
void mirror(Picture& picture);

}  // namespace engine
