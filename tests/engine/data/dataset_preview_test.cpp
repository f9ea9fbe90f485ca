#include "engine/dataset_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;

TEST(DatasetPreview, CountsTheSamplesOfEachClass) {
    const auto preview = preview_dataset(test::dataset("glyphs", {}), 1, 0);
    EXPECT_EQ(preview.train_samples, 10000);
    EXPECT_EQ(preview.test_samples, 2000);
    EXPECT_EQ(preview.classes, 20);
    EXPECT_EQ(preview.class_names.size(), 20U);
    EXPECT_THAT(preview.train_counts, ::testing::Each(500));
    EXPECT_TRUE(preview.thumbnails.empty());
}

TEST(DatasetPreview, ShowsGreyAsThreeEqualChannels) {
    const auto preview = preview_dataset(test::dataset("glyphs", {}), 1, 6);
    ASSERT_EQ(preview.thumbnails.size(), 6U);
    const auto& picture = preview.thumbnails[5];
    EXPECT_EQ(picture.width, 28);
    EXPECT_EQ(picture.height, 28);
    EXPECT_EQ(picture.label, 5);
    ASSERT_EQ(picture.rgb.size(), 28U * 28 * 3);
    for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
        EXPECT_EQ(picture.rgb[i], picture.rgb[i + 1]);
        EXPECT_EQ(picture.rgb[i], picture.rgb[i + 2]);
    }
}

TEST(DatasetPreview, ShowsColourAsItIsAndNoMorePicturesThanThereAre) {
    const TempFolder folder;
    folder.write("train.bin", test::cifar(100, 0, 3));
    folder.write("test.bin", test::cifar(100, 0, 1));
    const auto preview = preview_dataset(test::dataset("cifar100", {folder.str()}), 1, 10);
    ASSERT_EQ(preview.thumbnails.size(), 3U);
    for (std::int64_t pixel = 0; pixel < 1024; ++pixel) {
        for (std::int64_t c = 0; c < 3; ++c) {
            ASSERT_EQ(preview.thumbnails[2].rgb[static_cast<std::size_t>(pixel * 3 + c)],
                      test::cifar_value(2, c * 1024 + pixel));
        }
    }
}

TEST(DatasetPreview, HasNoPicturesOfFeatures) {
    const auto preview = preview_dataset(test::dataset("spirals", {}), 1, 10);
    EXPECT_TRUE(preview.thumbnails.empty());
    EXPECT_THAT(preview.train_counts, ::testing::ElementsAre(30000, 30000));
}

TEST(DatasetPreview, FailsAsTrainingWould) {
    const TempFolder folder;
    EXPECT_THAT(
        test::data_error([&] { preview_dataset(test::dataset("cifar100", {folder.str()}), 1, 1); }),
        ::testing::HasSubstr("no CIFAR-100 files here"));
}

}  // namespace
}  // namespace engine
