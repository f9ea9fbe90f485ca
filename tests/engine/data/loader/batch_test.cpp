#include "data/loader/batch.h"

#include <gtest/gtest.h>

#include "needs_cuda.h"
#include "tensor/device.h"
#include "tensor/layout.h"

namespace engine {
namespace {

TEST(DeviceBatch, HasAFieldForEachOfTheSchema) {
    Schema schema = classified_images({3, 4, 5}, {}, {"cat", "dog"});
    schema.add({.name = "boxes", .shape = {5, 4}, .ragged = Ragged::packed});
    const DeviceBatch batch = empty_batch({}, schema, 7);
    EXPECT_EQ(batch.rows, 7);
    EXPECT_EQ(batch.samples, 7);
    ASSERT_EQ(batch.fields.size(), 4U);
    EXPECT_EQ(batch[0].shape(), (Shape{7, 3, 4, 5}));
    EXPECT_EQ(batch[0].strides(), channels_last_strides({7, 3, 4, 5}));
    EXPECT_EQ(batch[0].dtype(), DType::f32);
    EXPECT_EQ(batch[1].shape(), Shape{7});
    EXPECT_EQ(batch[1].dtype(), DType::i64);
    EXPECT_EQ(batch[2].shape(), (Shape{35, 4}));
    EXPECT_EQ(batch[3].shape(), Shape{8});
}

TEST(DeviceBatch, CountsTheTokensOfWindows) {
    Schema schema;
    schema.add({.name = "tokens",
                .kind = FieldKind::tokens,
                .dtype = DType::i64,
                .shape = {35},
                .windowed = true});
    const DeviceBatch batch = empty_batch({}, schema, 20);
    EXPECT_EQ(batch.rows, 20);
    EXPECT_EQ(batch.samples, 700);
    EXPECT_EQ(batch[0].shape(), (Shape{20, 35}));
}

// Padding is a matter of a GPU's convolutions.
TEST(DeviceBatch, PadsNoPixelsOnTheHost) {
    Schema schema = classified_images({3, 4, 5}, {}, {"cat", "dog"});
    schema.fields[0].dtype = DType::f16;
    schema.fields[0].padded_pixels = true;
    EXPECT_TRUE(empty_batch({}, schema, 2)[0].is_channels_last());
}

TEST(DeviceBatch, PadsPixelsOfOddChannelsInSixteenBits) {
    HALFTONE_NEEDS_CUDA();
    const Device cuda{Device::Kind::cuda, 0};
    Schema schema = classified_images({3, 4, 5}, {}, {"cat", "dog"});
    FieldSpec& image = schema.fields[0];
    image.padded_pixels = true;
    EXPECT_EQ(pixel_pitch(empty_batch(cuda, schema, 2)[0]), 0) << "f32";
    image.dtype = DType::bf16;
    EXPECT_EQ(pixel_pitch(empty_batch(cuda, schema, 2)[0]), 8);
    image.shape = {1, 4, 5};
    EXPECT_EQ(pixel_pitch(empty_batch(cuda, schema, 2)[0]), 0) << "one channel is dense enough";
    image.shape = {4, 4, 5};
    EXPECT_EQ(pixel_pitch(empty_batch(cuda, schema, 2)[0]), 0);
}

TEST(DeviceBatch, LaysImagesOutChannelsLastAlone) {
    EXPECT_EQ(layout_of_field({.name = "image", .kind = FieldKind::image}), Layout::channels_last);
    EXPECT_EQ(layout_of_field({.name = "features", .kind = FieldKind::features}),
              Layout::contiguous);
}

}  // namespace
}  // namespace engine
