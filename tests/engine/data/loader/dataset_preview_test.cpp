#include "engine/data/dataset_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;

TEST(DatasetPreview, CountsTheSamplesOfEachClass) {
    const auto preview = preview_dataset(test::dataset("glyphs", {}), 1, 0);
    EXPECT_EQ(preview.train_samples, 10000);
    EXPECT_EQ(preview.validation_samples, 0);
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

TEST(DatasetPreview, CountsTheTrainingRowsAloneBesideAValidationPart) {
    auto config = test::dataset("spirals", {});
    config.train_limit = 100;
    config.validation_share = 0.25;
    const auto preview = preview_dataset(config, 1, 0);
    EXPECT_EQ(preview.train_samples, 75);
    EXPECT_EQ(preview.validation_samples, 25);
    ASSERT_EQ(preview.train_counts.size(), 2U);
    EXPECT_EQ(preview.train_counts[0] + preview.train_counts[1], 75);
}

TEST(DatasetPreview, ShowsTheImagesOfTheTrainingRows) {
    auto config = test::dataset("glyphs", {});
    config.train_limit = 40;
    config.validation_share = 0.5;
    const auto whole = preview_dataset(test::dataset("glyphs", {}), 1, 40);
    const auto preview = preview_dataset(config, 1, 100);
    ASSERT_EQ(preview.thumbnails.size(), 20U);
    std::size_t at = 0;  // the rows of the part are in order
    for (const auto& picture : preview.thumbnails) {
        while (at < 40 && whole.thumbnails[at].rgb != picture.rgb) ++at;
        ASSERT_LT(at, 40U);
        EXPECT_EQ(picture.label, whole.thumbnails[at].label);
    }
}

TEST(DatasetPreview, CountsTheTokensOfATextButNoClasses) {
    auto config = test::dataset("text-generated", {});
    config.train_limit = 5000;
    const auto preview = preview_dataset(config, 1, 10);
    EXPECT_EQ(preview.train_samples, 5000);
    EXPECT_TRUE(preview.thumbnails.empty());
    EXPECT_TRUE(preview.train_counts.empty());
    EXPECT_EQ(preview.classes, 0);
}

TEST(DatasetPreview, FailsAsTrainingWould) {
    const TempFolder folder;
    EXPECT_THAT(
        test::data_error([&] { preview_dataset(test::dataset("cifar100", {folder.str()}), 1, 1); }),
        ::testing::HasSubstr("no CIFAR-100 files here"));
}

}  // namespace
}  // namespace engine
