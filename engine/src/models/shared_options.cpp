#include "models/shared_options.h"

#include <algorithm>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::int64_t min_imagenet_side = 128;

}  // namespace

OptionSpec image_stem_option() {
    return {.name = "stem",
            .label = "Stem",
            .default_value = std::string("auto"),
            .help =
                "First layers of the network. The ImageNet stem reduces large pictures at once, "
                "the CIFAR stem keeps small ones whole. Automatic: ImageNet from 128 x 128 "
                "pixels.",
            .choices = {{"auto", "Automatic"}, {"cifar", "CIFAR"}, {"imagenet", "ImageNet"}},
            .prominent = true};
}

ImageStem image_stem(const TypedOptions& options, const Shape& picture) {
    const std::string word = options.word("stem");
    if (word == "cifar") return ImageStem::cifar;
    if (word == "imagenet") return ImageStem::imagenet;
    const bool large = std::min(picture[1], picture[2]) >= min_imagenet_side;
    return large ? ImageStem::imagenet : ImageStem::cifar;
}

std::vector<OptionSpec> transformer_options(const TransformerDefaults& defaults) {
    return {{.name = "layers",
             .label = "Layers",
             .default_value = defaults.layers,
             .help = "Transformer blocks on top of each other.",
             .lowest = 1,
             .highest = 256,
             .prominent = true},
            {.name = "width",
             .label = "Width",
             .default_value = defaults.width,
             .help = "Length of the vector for one token throughout the model.",
             .lowest = 1,
             .highest = 65536,
             .prominent = true},
            {.name = "heads",
             .label = "Attention heads",
             .default_value = defaults.heads,
             .help = "Number of parts of the width that compute attention separately. Must divide "
                     "the width.",
             .lowest = 1,
             .highest = 1024,
             .prominent = true},
            {.name = "dropout",
             .label = "Dropout",
             .default_value = 0.1,
             .help = "Share of values that is set to 0 at random in training, against overfitting.",
             .lowest = 0,
             .highest = 1,
             .below_highest = true},
            {.name = "feed_forward",
             .label = "Feed-forward width",
             .default_value = std::int64_t{0},
             .help = "Width inside the feed-forward layers. 0: four times the width.",
             .lowest = 0,
             .highest = 1048576},
            {.name = "context",
             .label = "Context",
             .default_value = std::int64_t{0},
             .help = "Number of positions, which is the longest window that the model can read. 0: "
                     "the tokens of a window (bptt).",
             .lowest = 0,
             .highest = 1048576}};
}

TransformerSizes transformer_sizes(const ModelSetup& setup) {
    const TypedOptions& given = setup.options;
    TransformerSizes sizes{given.integer("layers"),  given.integer("width"),
                           given.integer("heads"),   given.integer("feed_forward"),
                           given.integer("context"), given.number("dropout")};
    if (sizes.width % sizes.heads != 0) {
        throw Error(ErrorCode::settings, msg("model.options.heads: {}: must divide the width, {}",
                                             sizes.heads, sizes.width));
    }
    const std::int64_t window = setup.shape.inputs.front().shape[0];
    if (sizes.context == 0) sizes.context = window;
    if (sizes.context < window) {
        throw Error(ErrorCode::settings,
                    msg("model.options.context: {}: must be at least the window (bptt), {}",
                        sizes.context, window));
    }
    if (sizes.feed_forward == 0) sizes.feed_forward = 4 * sizes.width;
    return sizes;
}

}  // namespace engine
