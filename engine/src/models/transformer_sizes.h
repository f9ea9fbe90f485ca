#pragma once

#include <vector>

#include "models/model_descriptor.h"

namespace engine {

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
