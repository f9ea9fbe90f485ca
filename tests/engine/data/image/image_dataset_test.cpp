#include "data/image/image_dataset.h"

#include <gtest/gtest.h>

#include <cmath>

#include "read_sample.h"

namespace engine {
namespace {

TEST(ImageDataset, MeasuresEachChannelExactly) {
    // Channel 0 has values 0 and 255, channel 1 always 51.
    const LabelledImages images{{2, 1, 2}, {0, 51, 255, 51}, {0}};
    const ChannelMoments moments = measure(images);
    EXPECT_EQ(moments.mean, (std::vector{0.5, 0.2}));
    EXPECT_EQ(moments.deviation[0], 0.5);
    EXPECT_EQ(moments.deviation[1], 1) << "a channel that never changes can still be divided by";
}

TEST(ImageDataset, BothSetsCarryTheNormalizationOfTheTrainingSet) {
    const auto [train, validation, test, warnings, files] =
        make_image_datasets({{1, 1, 2}, {0, 255}, {1}}, {{1, 1, 2}, {7, 7}, {0}}, {"no", "yes"});
    const auto& of_train = train.data->schema()["image"].normalization;
    const auto& of_test = test.data->schema()["image"].normalization;
    EXPECT_EQ(of_train.mean, of_test.mean);
    EXPECT_EQ(of_test.mean[0], 0.5F);
    EXPECT_EQ(of_test.deviation[0], 0.5F);
    EXPECT_EQ(test.data->schema()["label"].cardinality, 2);
    EXPECT_EQ(test::read_label(*train.data, 0), 1);
    EXPECT_FALSE(validation.data);
}

TEST(ImageDataset, ReadsBytesAsSharesOf255InTheirOrder) {
    const ImageDataset data({{2, 1, 2}, {0, 51, 255, 102, 1, 2, 3, 4}, {1, 0}}, {"no", "yes"}, {});
    EXPECT_EQ(data.size(), 2);
    const auto [values, label] = test::read_sample(data, 0);
    EXPECT_EQ(values, (std::vector{0.0F, 51 / 255.0F, 1.0F, 102 / 255.0F}));
    EXPECT_EQ(label, 1);
    EXPECT_EQ(test::read_sample(data, 1).values[3], 4 / 255.0F);
    EXPECT_EQ(test::read_label(data, 1), 0) << "without the image";
}

}  // namespace
}  // namespace engine
