#include "models/shared_options.h"

#include <algorithm>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::int64_t min_imagenet_side = 128;

}  // namespace

OptionSpec image_stem_option() {
    return option(
        "stem", "Stem", std::string("auto"),
        "First layers of the network. The ImageNet stem reduces large pictures at once, the CIFAR "
        "stem keeps small ones whole. Automatic: ImageNet from 128 x 128 pixels.",
        opt::one_of({{"auto", "Automatic"}, {"cifar", "CIFAR"}, {"imagenet", "ImageNet"}}),
        opt::prominent);
}

ImageStem image_stem(const TypedOptions& options, const Shape& picture) {
    const std::string word = options.word("stem");
    if (word == "cifar") return ImageStem::cifar;
    if (word == "imagenet") return ImageStem::imagenet;
    const bool large = std::min(picture[1], picture[2]) >= min_imagenet_side;
    return large ? ImageStem::imagenet : ImageStem::cifar;
}

std::vector<OptionSpec> transformer_options(const TransformerDefaults& defaults) {
    return {option("layers", "Layers", defaults.layers, "Transformer blocks on top of each other.",
                   opt::between(1, 256), opt::prominent),
            option("width", "Width", defaults.width,
                   "Length of the vector for one token throughout the model.",
                   opt::between(1, 65536), opt::prominent),
            option("heads", "Attention heads", defaults.heads,
                   "Number of parts of the width that compute attention separately. Must divide "
                   "the width.",
                   opt::between(1, 1024), opt::prominent),
            option("dropout", "Dropout", 0.1,
                   "Share of values that is set to 0 at random in training, against overfitting.",
                   opt::from_to_below(0, 1)),
            option("feed_forward", "Feed-forward width", std::int64_t{0},
                   "Width inside the feed-forward layers. 0: four times the width.",
                   opt::between(0, 1048576)),
            option("context", "Context", std::int64_t{0},
                   "Number of positions, which is the longest window that the model can read. 0: "
                   "the tokens of a window (bptt).",
                   opt::between(0, 1048576))};
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
