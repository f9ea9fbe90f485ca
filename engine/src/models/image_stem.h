#pragma once

#include "engine/base/options.h"
#include "tensor/dims.h"

namespace engine {

/// How a convolutional network starts. The weights' names do not depend on it.
enum class ImageStem {
    cifar,     ///< keeps the size of small pictures
    imagenet,  ///< torchvision's: leaves a quarter (ResNet) or half of each side
};

/// The option "stem". `auto` is imagenet for pictures (C, H, W) of at least 128 pixels a side, and
/// cifar for smaller ones.
OptionSpec image_stem_option();
ImageStem image_stem(const TypedOptions& options, const Shape& picture);

}  // namespace engine
