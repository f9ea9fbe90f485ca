#include "models/shared_options.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

ImageStem stem_of(const Options& options, const Shape& picture) {
    const std::vector<OptionSpec> specs{image_stem_option()};
    return image_stem(TypedOptions(options, specs), picture);
}

TEST(ImageStem, IsThatOfImageNetFrom128PixelsASide) {
    EXPECT_EQ(stem_of({}, {3, 32, 32}), ImageStem::cifar);
    EXPECT_EQ(stem_of({}, {3, 127, 500}), ImageStem::cifar);
    EXPECT_EQ(stem_of({}, {3, 500, 127}), ImageStem::cifar);
    EXPECT_EQ(stem_of({}, {1, 128, 128}), ImageStem::imagenet);
}

TEST(ImageStem, IsTheChosenOneWhateverTheSize) {
    EXPECT_EQ(stem_of({{"stem", std::string("imagenet")}}, {3, 32, 32}), ImageStem::imagenet);
    EXPECT_EQ(stem_of({{"stem", std::string("cifar")}}, {3, 224, 224}), ImageStem::cifar);
    EXPECT_FALSE(check_option(image_stem_option(), std::string("other")).str().empty());
}

}  // namespace
}  // namespace engine
