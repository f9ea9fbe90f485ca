#pragma once

#include <vector>

#include "engine/base/options.h"
#include "models/model_descriptor.h"
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

/// Sizes from a Transformer's options; sizes of 0 are derived.
struct TransformerSizes {
    std::int64_t layers, width, heads, feed_forward, context;
    double dropout;
};

struct TransformerDefaults {
    std::int64_t layers, width, heads;
};

/// layers, width, heads, feed_forward, context and dropout.
std::vector<OptionSpec> transformer_options(const TransformerDefaults& defaults);

/// feed_forward of 0 is 4 * width; context of 0 is as long as a window of the setup's input. Throws
/// Error(settings) unless heads divides width and the windows fit into the context.
TransformerSizes transformer_sizes(const ModelSetup& setup);

}  // namespace engine
