#include "models/image_stem.h"

#include <algorithm>

namespace engine {
namespace {

constexpr std::int64_t least_imagenet_side = 128;

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
    const bool large = std::min(picture[1], picture[2]) >= least_imagenet_side;
    return large ? ImageStem::imagenet : ImageStem::cifar;
}

}  // namespace engine
