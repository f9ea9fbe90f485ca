#include "train/batch_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "data/image_dataset.h"
#include "support/device_support.h"
#include "needs_cuda.h"
#include "train/resident_images.h"
#include "train/ring_feed.h"

namespace engine {
namespace {

using test::cuda;

/// 40 images of 9 x 7 with 3 channels, every byte its own.
std::shared_ptr<const ImageDataset> images() {
    LabelledImages all;
    all.shape = {3, 9, 7};
    for (int i = 0; i < 40 * 9 * 7 * 3; ++i)
        all.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 251));
    for (int i = 0; i < 40; ++i) all.labels.push_back(static_cast<std::uint8_t>(i % 10));
    const std::vector<std::string> names(10, "class");
    const Normalization normalization{{0.4f, 0.5f, 0.6f}, {0.2f, 0.3f, 0.25f}};
    return std::make_shared<ImageDataset>(std::move(all), names, normalization);
}

TEST(ResidentImages, GiveTheHostsBatchesBitForBit) {
    HALFTONE_NEEDS_CUDA();
    const auto data = images();
    for (const bool augment : {false, true}) {
        for (const bool normalize : {false, true}) {
            const LoaderOptions options{
                .batch_size = 16, .seed = 5, .augment = augment, .normalize = normalize};
            ResidentImages feed(cuda, data, options);
            BatchMaker maker(data, options);
            for (int i = 0; i < 6; ++i) {  // the third of an epoch has 8 images
                Batch batch;
                maker.make(batch, i / 3, i % 3);
                const DeviceBatch on_device = feed.upload(batch);
                EXPECT_EQ(on_device.size, batch.size());
                const Tensor x = on_device.inputs.copy_to(Device{});
                ASSERT_EQ(std::memcmp(x.data(), batch.pixels.data(), x.bytes()), 0)
                    << augment << normalize << " batch " << i;
                const Tensor labels = on_device.labels.copy_to(Device{});
                ASSERT_EQ(std::memcmp(labels.data(), batch.labels.data(), labels.bytes()), 0);
            }
        }
    }
}

TEST(ResidentImages, AreChosenForASetThatFits) {
    HALFTONE_NEEDS_CUDA();
    EXPECT_TRUE(make_feed(cuda, images(), {})->indices_only());
    EXPECT_FALSE(make_feed(Device{}, images(), {})->indices_only());
    const std::size_t before = set_memory_limit(1 << 14, cuda);
    EXPECT_FALSE(make_feed(cuda, images(), {})->indices_only());
    set_memory_limit(before, cuda);
}

/// Batch i holds i everywhere.
Batch filled(std::int64_t size, float value) {
    Batch batch;
    batch.pixels.assign(static_cast<std::size_t>(size) * 4, value);
    batch.labels.assign(static_cast<std::size_t>(size), static_cast<std::int64_t>(value));
    return batch;
}

// Every batch is read only after many more were given: each must still have been its own when the
// stream came to it, and a slot must not be written before its reader has passed.
TEST(RingFeed, KeepsEachBatchUntilItsStepHasPassed) {
    HALFTONE_NEEDS_CUDA();
    RingFeed feed(cuda, {4, 1, 1});
    std::vector<Tensor> sums;
    for (int i = 0; i < 20; ++i) {
        const std::int64_t size = 3 + i % 5;
        const DeviceBatch batch = feed.upload(filled(size, static_cast<float>(i)));
        EXPECT_EQ(batch.inputs.shape(), (Shape{size, 4}));
        const Tensor copy = Tensor::empty(batch.inputs.shape(), DType::f32, cuda);
        kernels::cuda::copy_on_device(copy.data(), batch.inputs.data(), copy.bytes(), {});
        const Tensor labels = Tensor::empty({size}, DType::i64, cuda);
        kernels::cuda::copy_on_device(labels.data(), batch.labels.data(), labels.bytes(), {});
        feed.used(batch);
        sums.push_back(copy);
        sums.push_back(labels);
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
        EXPECT_THAT(sums[i].values(), testing::Each(static_cast<double>(i / 2)));
}

TEST(RingFeed, NeverWaitsForTheDevice) {
    HALFTONE_NEEDS_CUDA();
    RingFeed feed(cuda, {4, 1, 1});
    for (int i = 0; i < 3; ++i) feed.used(feed.upload(filled(8, 1)));
    const auto before = kernels::cuda::call_counts();
    for (int i = 0; i < 5; ++i) feed.used(feed.upload(filled(8, 1)));
    EXPECT_EQ(kernels::cuda::call_counts().synchronizations, before.synchronizations);
    EXPECT_EQ(kernels::cuda::call_counts().allocations, before.allocations);
}

}  // namespace
}  // namespace engine
