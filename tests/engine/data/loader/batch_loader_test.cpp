#include "data/loader/batch_loader.h"

#include <gtest/gtest.h>

#include <set>

#include "data/image/image_transforms.h"
#include "ramp_dataset.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::RampDataset;

// Batches of 16 of these images go through the loader's thread; features are made in the caller's
// thread.
const Shape image_shape{3, 16, 16};
const Shape feature_shape{4};

std::shared_ptr<RampDataset> ramp(const Shape& shape, std::int64_t size = 100) {
    return std::make_shared<RampDataset>(size, shape);
}

/// The fields of such data. Images are augmented.
Schema schema_of(const Shape& shape) {
    Schema schema = ramp(shape)->schema();
    if (shape.rank() == 3) schema.fields[0].transforms = {std::make_shared<CropAndFlip>(shape)};
    return schema;
}

void expect_equal(const Batch& a, const Batch& b) {
    EXPECT_EQ(a.epoch, b.epoch);
    EXPECT_EQ(a.index_in_epoch, b.index_in_epoch);
    EXPECT_EQ(a.last_of_epoch, b.last_of_epoch);
    EXPECT_EQ(a.indices, b.indices);
    EXPECT_EQ(a.samples, b.samples);
    EXPECT_EQ(a.full, b.full);
    ASSERT_EQ(a.fields.size(), b.fields.size());
    for (std::size_t f = 0; f < a.fields.size(); ++f) {
        EXPECT_EQ(a.fields[f].shape, b.fields[f].shape);
        EXPECT_EQ(a.fields[f].bytes, b.fields[f].bytes);
    }
}

class BatchLoaderOf : public ::testing::TestWithParam<Shape> {};

TEST_P(BatchLoaderOf, DeliversWhatTheCollatorMakesEpochAfterEpoch) {
    const LoaderOptions options{.sampler = {.batch_size = 16, .seed = 9}};
    Collator collator({ramp(GetParam())}, schema_of(GetParam()), options);
    BatchLoader loader({ramp(GetParam())}, schema_of(GetParam()), options);
    ASSERT_EQ(loader.batches_per_epoch(), 7);
    Batch expected, batch;
    for (std::int64_t i = 0; i < 21; ++i) {
        collator.make(expected, i / 7, i % 7);
        ASSERT_TRUE(loader.next(batch));
        expect_equal(batch, expected);
        EXPECT_EQ(batch.rows(), i % 7 == 6 ? 4 : 16);
        EXPECT_EQ(batch.last_of_epoch, i % 7 == 6);
    }
}

TEST_P(BatchLoaderOf, TwoLoadersReadInTurnsGiveTheSameBatches) {
    const auto data = ramp(GetParam());
    const LoaderOptions options{.sampler = {.batch_size = 16}};
    BatchLoader first({data}, schema_of(GetParam()), options);
    BatchLoader second({data}, schema_of(GetParam()), options);
    Batch a, b;
    for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE(first.next(a));
        ASSERT_TRUE(second.next(b));
        expect_equal(a, b);
    }
}

TEST_P(BatchLoaderOf, EndsAfterTheEpochsAskedForAndStaysEnded) {
    BatchLoader loader({ramp(GetParam())}, schema_of(GetParam()),
                       {.sampler = {.batch_size = 16, .shuffle = false}, .epochs = 2});
    Batch batch;
    for (int i = 0; i < 14; ++i) ASSERT_TRUE(loader.next(batch));
    EXPECT_FALSE(loader.next(batch));
    EXPECT_FALSE(loader.next(batch));
    EXPECT_EQ(batch.indices.back(), 99);  // the last batch is still there
    loader.seek(0, 0);
    ASSERT_TRUE(loader.next(batch));
    EXPECT_EQ(batch.indices.front(), 0);
}

TEST_P(BatchLoaderOf, SeeksToAnyBatch) {
    const LoaderOptions options{.sampler = {.batch_size = 16}};
    Collator collator({ramp(GetParam())}, schema_of(GetParam()), options);
    BatchLoader loader({ramp(GetParam())}, schema_of(GetParam()), options);
    Batch expected, batch;
    ASSERT_TRUE(loader.next(batch));
    loader.seek(5, 6);
    for (const auto& [epoch, index] : {std::pair{5, 6}, {6, 0}}) {
        collator.make(expected, epoch, index);
        ASSERT_TRUE(loader.next(batch));
        expect_equal(batch, expected);
    }
}

TEST_P(BatchLoaderOf, ThrowsInNextWhatReadingThrewAfterTheGoodBatches) {
    const auto data = ramp(GetParam());
    data->fail_at(40);
    BatchLoader loader({data}, schema_of(GetParam()),
                       {.sampler = {.batch_size = 16, .shuffle = false}});
    Batch batch;
    ASSERT_TRUE(loader.next(batch));
    ASSERT_TRUE(loader.next(batch));
    EXPECT_THROW(loader.next(batch), std::runtime_error);
    EXPECT_THROW(loader.next(batch), std::runtime_error);
    loader.seek(0, 3);
    ASSERT_TRUE(loader.next(batch));
    EXPECT_EQ(batch.indices.front(), 48);
}

TEST_P(BatchLoaderOf, StopsAtAnyMoment) {
    for (int taken = 0; taken < 8; ++taken) {
        BatchLoader loader({ramp(GetParam())}, schema_of(GetParam()),
                           {.sampler = {.batch_size = 16}});
        Batch batch;
        for (int i = 0; i < taken; ++i) ASSERT_TRUE(loader.next(batch));
    }
}

INSTANTIATE_TEST_SUITE_P(Data, BatchLoaderOf, ::testing::Values(image_shape, feature_shape),
                         [](const auto& shape) {
                             return std::string(shape.param.rank() == 3 ? "Images" : "Features");
                         });

TEST(BatchLoader, FollowsAnOrderFileWithBatchesOfDifferentSizes) {
    const test_support::TempFolder folder;
    const auto file = folder.write("order.txt", "1 2 3\n50\n");
    BatchLoader loader({ramp(image_shape)}, schema_of(image_shape),
                       {.sampler = {.batch_size = 16, .order = file}});
    Batch batch;
    for (int epoch = 0; epoch < 2; ++epoch) {
        ASSERT_TRUE(loader.next(batch));
        EXPECT_EQ(batch.indices, (std::vector<std::int64_t>{1, 2, 3}));
        ASSERT_TRUE(loader.next(batch));
        EXPECT_EQ(batch.indices, (std::vector<std::int64_t>{50}));
        EXPECT_TRUE(batch.last_of_epoch);
        EXPECT_EQ(batch.epoch, epoch);
    }
}

TEST(BatchLoader, GoesOnWhenTheOrderFileVanishes) {
    const test_support::TempFolder folder;
    const auto file = folder.write("order.txt", "1 2 3\n50\n");
    BatchLoader loader({ramp(image_shape)}, schema_of(image_shape), {.sampler = {.order = file}});
    std::filesystem::remove(file);
    Batch batch;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(loader.next(batch));
}

TEST(BatchLoader, TakesTheBuffersOfTheBatchGivenBack) {
    BatchLoader loader({ramp(image_shape, 64)}, schema_of(image_shape),
                       {.sampler = {.batch_size = 16}});
    Batch batch;
    std::set<const std::byte*> buffers;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(loader.next(batch));
        buffers.insert(batch.fields[0].bytes.data());
    }
    EXPECT_LE(buffers.size(), 5U);  // four prepared ones and the caller's
}

TEST(BatchLoader, GivesTheIndicesAloneWhereTheDeviceHasTheData) {
    const auto data = ramp(image_shape);
    data->fail_at(5);
    BatchLoader loader({data}, schema_of(image_shape),
                       {.sampler = {.batch_size = 16}, .epochs = 1, .indices_only = true});
    Batch batch;
    std::set<std::int64_t> seen;
    while (loader.next(batch)) {
        EXPECT_TRUE(batch.fields.empty());
        seen.insert(batch.indices.begin(), batch.indices.end());
    }
    EXPECT_EQ(seen.size(), 100U);
}

}  // namespace
}  // namespace engine
