#include "data/image/image_transforms.h"

#include <gtest/gtest.h>

#include "data/dataset_descriptor.h"

namespace engine {
namespace {

TEST(ImageOptions, EveryImageSetHasCutoutAndThoseInColourHaveJitter) {
    int sets = 0;
    for (const DatasetDescriptor& set : datasets()) {
        const Schema schema = set.schema({});
        const FieldSpec* image = schema.find(FieldKind::image);
        if (image == nullptr || schema.find(FieldKind::boxes) != nullptr) continue;
        SCOPED_TRACE(set.kind);
        ++sets;
        EXPECT_NE(find_option(set.options, "cutout"), nullptr);
        EXPECT_EQ(find_option(set.options, "color_jitter") != nullptr, image->shape[0] == 3);
    }
    EXPECT_GE(sets, 6);
}

TEST(ImageOptions, AreOffUnlessSetAndOffForOtherKinds) {
    DatasetConfig config;
    config.kind = "cifar10";
    EXPECT_EQ(image_changes(config).cutout, 0);
    EXPECT_EQ(image_changes(config).color_jitter, 0);
    config.options = {{"cutout", std::int64_t{16}}, {"color_jitter", 0.4}};
    EXPECT_EQ(image_changes(config).cutout, 16);
    EXPECT_EQ(image_changes(config).color_jitter, 0.4);
    config.kind = "mnist";
    EXPECT_EQ(image_changes(config).color_jitter, 0);
    config.kind = "csv";
    EXPECT_EQ(image_changes(config).cutout, 0);
}

TEST(ImageOptions, BecomeTransformsOfTrainingImagesAlone) {
    DatasetConfig config;
    config.kind = "cifar10";
    config.augment = true;
    config.options = {{"cutout", std::int64_t{16}}, {"color_jitter", 0.4}};
    const Schema schema =
        classified_images({3, 32, 32}, {{0.5F, 0.5F, 0.5F}, {1, 1, 1}}, {"a", "b"});
    const auto training = with_transforms(schema, config, true).fields.front().transforms;
    ASSERT_EQ(training.size(), 4U) << "crop and flip, jitter, normalise, cutout";
    EXPECT_NE(dynamic_cast<const ColorJitter*>(training[1].get()), nullptr);
    EXPECT_NE(dynamic_cast<const Cutout*>(training[3].get()), nullptr);
    EXPECT_EQ(with_transforms(schema, config, false).fields.front().transforms.size(), 1U);
}

}  // namespace
}  // namespace engine
