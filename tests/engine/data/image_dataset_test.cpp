#include "data/image_dataset.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

TEST(ImageDataset, MeasuresEachChannelExactly) {
    // Channel 0: 0 and 255; channel 1: always 51.
    const LabelledImages images{{2, 1, 2}, {0, 51, 255, 51}, {0}};
    const ChannelMoments moments = measure(images);
    EXPECT_EQ(moments.mean, (std::vector{0.5, 0.2}));
    EXPECT_EQ(moments.deviation[0], 0.5);
    EXPECT_EQ(moments.deviation[1], 1) << "a channel that never changes can still be divided by";
}

TEST(ImageDataset, BothSetsCarryTheNormalizationOfTheTrainingSet) {
    const auto [train, test] =
        make_image_datasets({{1, 1, 2}, {0, 255}, {1}}, {{1, 1, 2}, {7, 7}, {0}}, {"no", "yes"});
    EXPECT_EQ(train->normalization().mean, test->normalization().mean);
    EXPECT_EQ(test->normalization().mean[0], 0.5F);
    EXPECT_EQ(test->classes(), 2);
    EXPECT_EQ(train->label(0), 1);
}

}  // namespace
}  // namespace engine
