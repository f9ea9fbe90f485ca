#include "data/batch_loader.h"

#include <gtest/gtest.h>

#include <set>

#include "ramp_dataset.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::RampDataset;

// Batches of 16 of these go through the loader's thread; features are made in the caller's.
constexpr SampleShape images{3, 16, 16};
constexpr SampleShape features{4, 1, 1};

std::shared_ptr<RampDataset> ramp(const SampleShape& shape, std::int64_t size = 100) {
    return std::make_shared<RampDataset>(size, shape);
}

void expect_equal(const Batch& a, const Batch& b) {
    EXPECT_EQ(a.epoch, b.epoch);
    EXPECT_EQ(a.index_in_epoch, b.index_in_epoch);
    EXPECT_EQ(a.last_of_epoch, b.last_of_epoch);
    EXPECT_EQ(a.indices, b.indices);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.pixels, b.pixels);
}

class BatchLoaderOf : public ::testing::TestWithParam<SampleShape> {};

TEST_P(BatchLoaderOf, DeliversWhatTheMakerMakesEpochAfterEpoch) {
    const LoaderOptions options{.batch_size = 16, .seed = 9, .augment = GetParam().is_image()};
    BatchMaker maker(ramp(GetParam()), options);
    BatchLoader loader(ramp(GetParam()), options);
    ASSERT_EQ(loader.batches_per_epoch(), 7);
    Batch expected, batch;
    for (std::int64_t i = 0; i < 21; ++i) {
        maker.make(expected, i / 7, i % 7);
        ASSERT_TRUE(loader.next(batch));
        expect_equal(batch, expected);
        EXPECT_EQ(batch.size(), i % 7 == 6 ? 4 : 16);
        EXPECT_EQ(batch.last_of_epoch, i % 7 == 6);
    }
}

TEST_P(BatchLoaderOf, TwoLoadersReadInTurnsGiveTheSameBatches) {
    const auto data = ramp(GetParam());
    const LoaderOptions options{.batch_size = 16};
    BatchLoader first(data, options);
    BatchLoader second(data, options);
    Batch a, b;
    for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE(first.next(a));
        ASSERT_TRUE(second.next(b));
        expect_equal(a, b);
    }
}

TEST_P(BatchLoaderOf, EndsAfterTheEpochsAskedForAndStaysEnded) {
    BatchLoader loader(ramp(GetParam()), {.batch_size = 16, .shuffle = false, .epochs = 2});
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
    const LoaderOptions options{.batch_size = 16};
    BatchMaker maker(ramp(GetParam()), options);
    BatchLoader loader(ramp(GetParam()), options);
    Batch expected, batch;
    ASSERT_TRUE(loader.next(batch));
    loader.seek(5, 6);
    for (const auto& [epoch, index] : {std::pair{5, 6}, {6, 0}}) {
        maker.make(expected, epoch, index);
        ASSERT_TRUE(loader.next(batch));
        expect_equal(batch, expected);
    }
}

TEST_P(BatchLoaderOf, ThrowsInNextWhatReadingThrewAfterTheGoodBatches) {
    const auto data = ramp(GetParam());
    data->fail_at(40);
    BatchLoader loader(data, {.batch_size = 16, .shuffle = false});
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
        BatchLoader loader(ramp(GetParam()), {.batch_size = 16, .augment = GetParam().is_image()});
        Batch batch;
        for (int i = 0; i < taken; ++i) ASSERT_TRUE(loader.next(batch));
    }
}

INSTANTIATE_TEST_SUITE_P(Data, BatchLoaderOf, ::testing::Values(images, features),
                         [](const auto& shape) {
                             return std::string(shape.param.is_image() ? "Images" : "Features");
                         });

TEST(BatchLoader, FollowsAnOrderFileWithBatchesOfDifferentSizes) {
    const test_support::TempFolder folder;
    const auto file = folder.write("order.txt", "1 2 3\n50\n");
    BatchLoader loader(ramp(images), {.batch_size = 16, .order = file});
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
    BatchLoader loader(ramp(images), {.order = file});
    std::filesystem::remove(file);
    Batch batch;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(loader.next(batch));
}

TEST(BatchLoader, TakesTheBuffersOfTheBatchGivenBack) {
    BatchLoader loader(ramp(images, 64), {.batch_size = 16});
    Batch batch;
    std::set<const float*> buffers;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(loader.next(batch));
        buffers.insert(batch.pixels.data());
    }
    EXPECT_LE(buffers.size(), 5U);  // four ahead and the caller's
}

}  // namespace
}  // namespace engine
