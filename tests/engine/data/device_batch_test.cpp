#include "data/device_batch.h"

#include <gtest/gtest.h>

#include "core/device.h"

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

TEST(DeviceBatch, LaysImagesOutChannelsLastAlone) {
    EXPECT_EQ(layout_of_field({.name = "image", .kind = FieldKind::image}), Layout::channels_last);
    EXPECT_EQ(layout_of_field({.name = "features", .kind = FieldKind::features}),
              Layout::contiguous);
}

}  // namespace
}  // namespace engine
