#include "data/image/image_transforms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

TEST(RandomBox, LiesInThePictureWithTheAreasAndRatiosOfTorchvision) {
    double least = 1, most = 0, narrowest = 9, widest = 0;
    double area = 0;
    constexpr int draws = 20'000;
    for (std::uint64_t position = 0; position < draws; ++position) {
        const PictureBox box = random_box(500, 375, {1, 0, position});
        ASSERT_GE(box.left, 0);
        ASSERT_GE(box.top, 0);
        ASSERT_LE(box.left + box.width, 500);
        ASSERT_LE(box.top + box.height, 375);
        const double share = box.width * box.height / (500.0 * 375);
        const double ratio = static_cast<double>(box.width) / box.height;
        least = std::min(least, share);
        most = std::max(most, share);
        narrowest = std::min(narrowest, ratio);
        widest = std::max(widest, ratio);
        area += share;
    }
    EXPECT_NEAR(least, 0.08, 0.005);
    EXPECT_NEAR(most, 1, 0.01);
    EXPECT_NEAR(narrowest, 0.75, 0.02);
    EXPECT_NEAR(widest, 4.0 / 3, 0.02);
    // The mean share of 60,000 of torchvision's boxes of this picture is 0.4341, with a standard
    // deviation of 0.216, so the difference of the two means has a standard deviation of 0.0018.
    EXPECT_NEAR(area / draws, 0.4341, 4 * 0.0018);
}

TEST(RandomBox, OfAVeryLongPictureIsItsMiddle) {
    const PictureBox wide = random_box(4000, 4, {1, 0, 0});
    EXPECT_EQ(wide.height, 4);
    EXPECT_LE(wide.width, 5);
    const PictureBox one = random_box(1, 1, {1, 0, 0});
    EXPECT_EQ(one.width, 1);
    EXPECT_EQ(one.height, 1);
    const PictureBox tall = random_box(1, 5000, {1, 0, 0});
    EXPECT_EQ(tall.width, 1);
    EXPECT_EQ(tall.height, 1);
}

TEST(RandomBox, FollowsFromSeedEpochAndPosition) {
    const auto differ = [](const SamplePlace& a, const SamplePlace& b) {
        const PictureBox x = random_box(500, 375, a), y = random_box(500, 375, b);
        return x.left != y.left || x.top != y.top || x.width != y.width || x.height != y.height;
    };
    EXPECT_FALSE(differ({1, 2, 3}, {1, 2, 3}));
    EXPECT_TRUE(differ({1, 2, 3}, {2, 2, 3}));
    EXPECT_TRUE(differ({1, 2, 3}, {1, 3, 3}));
    EXPECT_TRUE(differ({1, 2, 3}, {1, 2, 4}));
}

TEST(PictureFlip, IsForHalfOfTheSamples) {
    int flipped = 0;
    for (std::uint64_t position = 0; position < 10'000; ++position)
        flipped += is_flipped({1, 0, position});
    EXPECT_NEAR(flipped, 5000, 200);  // four standard deviations
}

TEST(PictureFlip, ExchangesLeftAndRight) {
    Picture odd{3, 2, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6}};
    mirror(odd);
    EXPECT_EQ(odd.rgb,
              (std::vector<std::uint8_t>{3, 3, 3, 2, 2, 2, 1, 1, 1, 6, 6, 6, 5, 5, 5, 4, 4, 4}));
    Picture even{2, 1, {1, 2, 3, 4, 5, 6}};
    mirror(even);
    EXPECT_EQ(even.rgb, (std::vector<std::uint8_t>{4, 5, 6, 1, 2, 3}));
}

}  // namespace
}  // namespace engine
