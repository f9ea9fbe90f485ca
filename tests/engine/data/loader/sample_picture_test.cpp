#include "data/loader/sample_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace engine {
namespace {

using ::testing::ElementsAre;

/// A picture of one row of two pixels.
Picture two_pixels(std::int64_t channels, const std::vector<float>& pixels) {
    const FieldSpec image{
        .name = "image", .kind = FieldKind::image, .dtype = DType::f32, .shape = {channels, 1, 2}};
    const Picture out = picture_of_pixels(image, pixels);
    EXPECT_EQ(out.width, 2);
    EXPECT_EQ(out.height, 1);
    return out;
}

TEST(SamplePicture, IsGreyOfFewerThanThreeChannelsAndElseOfTheFirstThree) {
    EXPECT_THAT(two_pixels(1, {0, 1}).rgb, ElementsAre(0, 0, 0, 255, 255, 255));
    EXPECT_THAT(two_pixels(2, {0, 1, 1, 0}).rgb, ElementsAre(0, 0, 0, 255, 255, 255));
    EXPECT_THAT(two_pixels(3, {0, 0.2f, 1, 1, 0, 0}).rgb, ElementsAre(0, 51, 255, 255, 0, 0));
    EXPECT_THAT(two_pixels(4, {0, 0.2f, 1, 0.5f, 1, 0, 0, 0.5f}).rgb,
                ElementsAre(0, 51, 255, 255, 0, 0));
}

TEST(SamplePicture, ShowsValuesOutsideOfItsRangeAsBlackOrFull) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(two_pixels(3, {-0.5f, 1.5f, infinity, -infinity, nan, 1}).rgb,
                ElementsAre(0, 255, 255, 0, 0, 255));
}

}  // namespace
}  // namespace engine
