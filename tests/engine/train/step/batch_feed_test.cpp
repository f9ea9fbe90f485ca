#include "train/step/batch_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "data/image/image_dataset.h"
#include "needs_cuda.h"
#include "ops/shape/view.h"
#include "support/device_support.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "train/step/device_feeds.h"

namespace engine {
namespace {

using test::cuda;

/// 40 images of 9 x 7 with 3 channels, with different bytes.
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
            const LoaderOptions options{.sampler = {.batch_size = 16, .seed = 5}};
            DatasetConfig config;
            config.augment = augment;
            config.normalize = normalize;
            const Schema schema = with_transforms(data->schema(), config, /*training=*/true);
            ASSERT_TRUE(ImagePreparer::can_make(schema));
            ResidentImages feed(cuda, data, schema, options);
            Collator collator({data}, schema, options);
            for (int i = 0; i < 6; ++i) {  // the third batch of an epoch has 8 images
                Batch batch;
                collator.make(batch, i / 3, i % 3);
                const DeviceBatch on_device = feed.upload(batch);
                EXPECT_EQ(on_device.rows, batch.rows());
                for (std::size_t f = 0; f < batch.fields.size(); ++f) {
                    const Tensor field = on_device[f].copy_to(Device{});
                    ASSERT_EQ(field.bytes(), batch.fields[f].bytes.size());
                    ASSERT_EQ(
                        std::memcmp(field.data(), batch.fields[f].bytes.data(), field.bytes()), 0)
                        << augment << normalize << " batch " << i << " field " << f;
                }
            }
        }
    }
}

TEST(ResidentImages, AreChosenForASetThatFits) {
    HALFTONE_NEEDS_CUDA();
    const DataPart part{images()};
    const Schema& schema = part.data->schema();
    EXPECT_TRUE(make_feed(cuda, part, schema, {})->indices_only());
    EXPECT_FALSE(make_feed(Device{}, part, schema, {})->indices_only());
    const std::size_t before = set_memory_limit(1 << 14, cuda);
    EXPECT_FALSE(make_feed(cuda, part, schema, {})->indices_only());
    set_memory_limit(before, cuda);
}

/// The batch with its images rounded to f16, as captured work wants them.
DeviceBatch low_inputs(const Schema& schema, std::int64_t rows, bool padded) {
    Schema low = schema;
    low.fields[0].dtype = DType::f16;
    low.fields[0].padded_pixels = padded;
    return empty_batch(cuda, low, rows);
}

/// All values of images with padded pixels, the zeros behind their channels too.
Tensor whole_pixels(const Tensor& images) {
    const std::int64_t pitch = pixel_pitch(images);
    const Shape whole{images.size(0), pitch, images.size(2), images.size(3)};
    return view_of(images, whole, channels_last_strides(whole), 0);
}

/// Zeros behind the channels.
Tensor with_zeros(const Tensor& images, std::int64_t channels) {
    const Tensor zeros =
        Tensor::zeros({images.size(0), channels - images.size(1), images.size(2), images.size(3)},
                      images.dtype());
    return in_layout(cat({images, zeros}, 1), Layout::channels_last);
}

void expect_bytes(const Tensor& found, const Tensor& expected, const char* what) {
    const Tensor here = found.copy_to(Device{});
    ASSERT_EQ(here.dtype(), expected.dtype()) << what;
    ASSERT_EQ(here.bytes(), expected.bytes()) << what;
    EXPECT_EQ(std::memcmp(here.data(), expected.data(), here.bytes()), 0) << what;
}

/// upload() and fill(), in f32 and in f16, give the numbers of the host's batch.
void expect_host_batch(BatchFeed& feed, const Batch& given, const Batch& host,
                       const Schema& schema) {
    const Tensor images =
        Tensor::empty(host.fields[0].shape, DType::f32, Device{}, Layout::channels_last);
    images.copy_from_host(host.fields[0].bytes.data());
    const Tensor labels = Tensor::empty(host.fields[1].shape, DType::i64, Device{});
    labels.copy_from_host(host.fields[1].bytes.data());
    const DeviceBatch uploaded = feed.upload(given);
    expect_bytes(uploaded[0], images, "uploaded images");
    expect_bytes(uploaded[1], labels, "uploaded labels");
    feed.used(uploaded);
    const DeviceBatch same = empty_batch(cuda, schema, host.rows());
    feed.fill(given, same);
    expect_bytes(same[0], images, "filled images");
    expect_bytes(same[1], labels, "filled labels");
    const DeviceBatch low = low_inputs(schema, host.rows(), false);
    feed.fill(given, low);
    expect_bytes(low[0], to(images, DType::f16), "filled images in f16");
    expect_bytes(low[1], labels, "labels beside them");
    const DeviceBatch padded = low_inputs(schema, host.rows(), true);
    feed.fill(given, padded);
    ASSERT_EQ(pixel_pitch(padded[0]), 8);
    expect_bytes(whole_pixels(padded[0]), with_zeros(to(images, DType::f16), 8),
                 "filled images in f16 with padded pixels");
}

Schema schema_for(const ImageDataset& data, bool augment, bool normalize) {
    DatasetConfig config;
    config.augment = augment;
    config.normalize = normalize;
    return with_transforms(data.schema(), config, /*training=*/true);
}

TEST(ResidentImages, FillMemoryThatIsThereAlsoInSixteenBits) {
    HALFTONE_NEEDS_CUDA();
    const auto data = images();
    const LoaderOptions options{.sampler = {.batch_size = 16, .seed = 5}};
    const Schema schema = schema_for(*data, true, true);
    ResidentImages feed(cuda, data, schema, options);
    Collator collator({data}, schema, options);
    Batch batch;
    collator.make(batch, 1, 1);
    expect_host_batch(feed, batch, batch, schema);
}

/// The feed of a data set that is too large to lie on the device.
std::unique_ptr<BatchFeed> feed_of_large_set(const DataPart& part, const Schema& schema,
                                             const LoaderOptions& options) {
    const std::size_t before = set_memory_limit(56 << 10, cuda);
    auto feed = make_feed(cuda, part, schema, options);
    set_memory_limit(before, cuda);
    return feed;
}

TEST(RingFeed, ImagesTravelAsBytesWithTheHostsNumbers) {
    HALFTONE_NEEDS_CUDA();
    const auto data = images();
    for (const bool augment : {false, true}) {
        for (const bool normalize : {false, true}) {
            const Schema schema = schema_for(*data, augment, normalize);
            const LoaderOptions options{.sampler = {.batch_size = 16, .seed = 5}};
            const auto feed = feed_of_large_set({data}, schema, options);
            LoaderOptions of_bytes = options;
            feed->choose(of_bytes);
            ASSERT_TRUE(of_bytes.image_bytes);
            ASSERT_FALSE(of_bytes.indices_only);
            Collator host({data}, schema, options), bytes({data}, schema, of_bytes);
            for (int i = 0; i < 6; ++i) {  // the third batch of an epoch has 8 images
                Batch batch, expected;
                host.make(expected, i / 3, i % 3);
                bytes.make(batch, i / 3, i % 3);
                EXPECT_EQ(4 * batch.fields[0].bytes.size(), expected.fields[0].bytes.size());
                expect_host_batch(*feed, batch, expected, schema);
                expect_host_batch(*feed, expected, expected, schema);  // f32 is taken too
            }
        }
    }
}

TEST(RingFeed, TakesImagesInF32WhereTheDeviceCannotMakeThem) {
    HALFTONE_NEEDS_CUDA();
    const auto data = images();
    DatasetConfig config;
    config.kind = "cifar10";
    config.options["cutout"] = std::int64_t{3};
    const Schema schema = with_transforms(data->schema(), config, /*training=*/true);
    EXPECT_FALSE(feed_of_large_set({data}, schema, {})->image_bytes());
    EXPECT_FALSE(make_ring_feed(cuda, data->schema())->image_bytes()) << "of samples made by hand";
}

/// Four features and a label.
Schema four_features() {
    return classified_features({{0, 0, 0, 0}, {1, 1, 1, 1}}, std::vector<std::string>(20, "class"));
}

/// A batch in which every value is `value`.
Batch filled(std::int64_t rows, std::int64_t value) {
    Batch batch;
    batch.indices.resize(static_cast<std::size_t>(rows));
    batch.samples = rows;
    const auto count = static_cast<std::size_t>(rows);
    batch.fields.resize(2);
    batch.fields[0] = {{rows, 4}, DType::f32, {}};
    batch.fields[0].bytes.resize(count * 4 * sizeof(float));
    std::ranges::fill(batch.fields[0].values<float>(), static_cast<float>(value));
    batch.fields[1] = {{rows}, DType::i64, {}};
    batch.fields[1].bytes.resize(count * sizeof(std::int64_t));
    std::ranges::fill(batch.fields[1].values<std::int64_t>(), value);
    return batch;
}

// Each batch is read only after many more were submitted. It must still have its own contents when
// the stream reaches it, and a slot must not be written before its reader has finished.
TEST(RingFeed, KeepsEachBatchUntilItsStepHasPassed) {
    HALFTONE_NEEDS_CUDA();
    RingFeed feed(cuda, four_features());
    std::vector<Tensor> sums;
    for (int i = 0; i < 20; ++i) {
        const std::int64_t size = 3 + i % 5;
        const DeviceBatch batch = feed.upload(filled(size, i));
        EXPECT_EQ(batch[0].shape(), (Shape{size, 4}));
        const Tensor copy = Tensor::empty(batch[0].shape(), DType::f32, cuda);
        kernels::cuda::copy_on_device(copy.data(), batch[0].data(), copy.bytes(), {});
        const Tensor labels = Tensor::empty({size}, DType::i64, cuda);
        kernels::cuda::copy_on_device(labels.data(), batch[1].data(), labels.bytes(), {});
        feed.used(batch);
        sums.push_back(copy);
        sums.push_back(labels);
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
        EXPECT_THAT(sums[i].values(), testing::Each(static_cast<double>(i / 2)));
}

TEST(RingFeed, NeverWaitsForTheDevice) {
    HALFTONE_NEEDS_CUDA();
    RingFeed feed(cuda, four_features());
    for (int i = 0; i < 3; ++i) feed.used(feed.upload(filled(8, 1)));
    const auto before = kernels::cuda::call_counts();
    for (int i = 0; i < 5; ++i) feed.used(feed.upload(filled(8, 1)));
    EXPECT_EQ(kernels::cuda::call_counts().synchronizations, before.synchronizations);
    EXPECT_EQ(kernels::cuda::call_counts().allocations, before.allocations);
}

}  // namespace
}  // namespace engine
