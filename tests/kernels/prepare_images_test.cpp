#include "kernels/prepare_images.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/elementwise.h"
#include "kernels/image_store.h"
#include "kernels/support.h"

namespace kernels::test {
namespace {

constexpr PhiloxStream image_stream{{11, 0}, 2, 5};

/// Pads by four zeros, crops, flips and normalises in separate steps.
std::vector<float> reference_image(const RandomImages& images, std::int64_t sample,
                                   const ImagePreparation& how, std::uint64_t position) {
    const std::int64_t height = images.height, width = images.width, channels = images.channels;
    const PhiloxBlock words = how.random.block(position);
    const std::int64_t top = how.augment ? PhiloxStream::to_bounded(words[0], 9) : 4;
    const std::int64_t left = how.augment ? PhiloxStream::to_bounded(words[1], 9) : 4;
    const bool flip = how.augment && words[2] % 2 == 1;
    std::vector<float> padded(static_cast<std::size_t>((height + 8) * (width + 8) * channels));
    const auto at = [&](std::int64_t h, std::int64_t w, std::int64_t c) -> float& {
        return padded[static_cast<std::size_t>((h * (width + 8) + w) * channels + c)];
    };
    for (std::int64_t h = 0; h < height; ++h)
        for (std::int64_t w = 0; w < width; ++w)
            for (std::int64_t c = 0; c < channels; ++c)
                at(h + 4, w + 4, c) = static_cast<float>(images.pixels.get(
                                          ((sample * height + h) * width + w) * channels + c)) /
                                      255;
    std::vector<float> result;
    for (std::int64_t h = 0; h < height; ++h)
        for (std::int64_t w = 0; w < width; ++w)
            for (std::int64_t c = 0; c < channels; ++c) {
                float value = at(top + h, left + (flip ? width - 1 - w : w), c);
                if (how.normalize)
                    value = (value - static_cast<float>(images.mean.get(c))) /
                            static_cast<float>(images.deviation.get(c));
                result.push_back(value);
            }
    return result;
}

void expect_prepared(const RandomImages& images, const Buffer& indices,
                     const ImagePreparation& how) {
    const std::int64_t elements = images.height * images.width * images.channels;
    Buffer y(DType::f32, indices.size() * elements), labels(DType::i64, indices.size());
    cpu::prepare_images(y, labels, indices, images.store(), how, {});
    for (std::int64_t i = 0; i < indices.size(); ++i) {
        const auto sample = static_cast<std::int64_t>(indices.get(i));
        ASSERT_EQ(labels.get(i), images.labels.get(sample));
        const auto expected =
            reference_image(images, sample, how, how.first + static_cast<std::uint64_t>(i));
        for (std::int64_t e = 0; e < elements; ++e)
            ASSERT_EQ(static_cast<float>(y.get(i * elements + e)),
                      expected[static_cast<std::size_t>(e)])
                << "image " << i << " value " << e;
    }
}

TEST(PrepareImages, CropsFlipsAndNormalisesTheBytes) {
    const RandomImages colour(20, 32, 32, 3), grey(20, 28, 28, 1), small(20, 3, 2, 4);
    Buffer indices(DType::i64, 40);
    for (std::int64_t i = 0; i < 40; ++i) indices.set(i, static_cast<double>(i * 7 % 20));
    for (const bool augment : {false, true})
        for (const bool normalize : {false, true})
            for (const RandomImages* images : {&colour, &grey, &small})
                with_threads([&](int) {
                    expect_prepared(*images, indices, {augment, normalize, image_stream, 1000});
                });
}

TEST(PrepareImages, MakesNothingOfAnEmptyBatch) {
    const RandomImages images(1, 4, 4, 1);
    expect_prepared(images, Buffer(DType::i64, 0), {true, true, image_stream, 0});
}

constexpr DType image_types[] = {DType::f32, DType::f16, DType::bf16};

TEST(PrepareImages, RoundsToSixteenBitsAsACastDoes) {
    const RandomImages images(5, 8, 6, 3);
    const Buffer indices(DType::i64, {4, 0, 3});
    const ImagePreparation how{true, true, image_stream, 1000};
    Buffer wide(DType::f32, 3 * 8 * 6 * 3), labels(DType::i64, 3);
    cpu::prepare_images(wide, labels, indices, images.store(), how, {});
    for (const DType dtype : {DType::f16, DType::bf16}) {
        Buffer y(dtype, wide.size()), expected(dtype, wide.size());
        cpu::prepare_images(y, labels, indices, images.store(), how, {});
        cpu::cast(expected, wide, {});
        EXPECT_EQ(y.bytes(), expected.bytes());
    }
}

TEST(PrepareImages, TakesTheRowsAsTheyLieWithoutIndices) {
    const RandomImages images(4, 8, 6, 3);
    const Buffer indices(DType::i64, {0, 1, 2, 3});
    const ImagePreparation how{true, true, image_stream, 7};
    Buffer expected(DType::f32, 4 * 8 * 6 * 3), y(DType::f32, expected.size());
    Buffer labels(DType::i64, 4);
    cpu::prepare_images(expected, labels, indices, images.store(), how, {});
    ImageStore no_labels = images.store();
    no_labels.labels = nullptr;
    const Array none{nullptr, DType::i64, 0};
    cpu::prepare_images(y, none, none, no_labels, how, {});
    EXPECT_EQ(y.bytes(), expected.bytes());
}

/// A batch of these images with pixels of `pitch` values; its size counts no zeros.
Array padded_images(const RandomImages& images, std::int64_t count, void* data, DType dtype) {
    return {data, dtype, count * images.height * images.width * images.channels};
}

TEST(PrepareImages, WritesZerosBehindTheChannelsOfPaddedPixels) {
    constexpr std::int64_t pitch = 8;
    const RandomImages images(4, 8, 6, 3);
    const Buffer indices(DType::i64, {2, 0, 3});
    const ImagePreparation how{true, true, image_stream, 7};
    for (const DType dtype : image_types) {
        Buffer dense(dtype, 3 * 8 * 6 * 3), labels(DType::i64, 3);
        cpu::prepare_images(dense, labels, indices, images.store(), how, {});
        Buffer padded(dtype, 3 * 8 * 6 * pitch), expected(dtype, padded.size());
        for (std::int64_t i = 0; i < padded.size(); ++i) {
            const std::int64_t c = i % pitch;
            expected.set(i, c < 3 ? dense.get(i / pitch * 3 + c) : 0);
            padded.set(i, NAN);
        }
        ImagePreparation with_pitch = how;
        with_pitch.pitch = pitch;
        cpu::prepare_images(padded_images(images, 3, padded.array().data, dtype), labels, indices,
                            images.store(), with_pitch, {});
        EXPECT_EQ(padded.bytes(), expected.bytes());
    }
}

void expect_same_images(const RandomImages& images, const Buffer& indices,
                        const ImagePreparation& how, DType dtype) {
    const std::int64_t pitch = how.pitch == 0 ? images.channels : how.pitch;
    Buffer y(dtype, indices.size() * images.height * images.width * pitch);
    Buffer labels(DType::i64, indices.size());
    cpu::prepare_images(padded_images(images, indices.size(), y.array().data, dtype), labels,
                        indices, images.store(), how, {});
    const DeviceBuffer pixels(images.pixels), classes(images.labels), mean(images.mean),
        deviation(images.deviation), device_indices(indices);
    const DeviceBuffer device_y(dtype, y.size()), device_labels(DType::i64, labels.size());
    const ImageStore store{pixels.as<std::uint8_t>(),
                           classes.as<std::uint8_t>(),
                           mean.as<float>(),
                           deviation.as<float>(),
                           images.height,
                           images.width,
                           images.channels};
    cuda::prepare_images(padded_images(images, indices.size(), device_y.as<void>(), dtype),
                         device_labels, device_indices, store, how, {});
    EXPECT_EQ(device_y.host().bytes(), y.bytes());
    EXPECT_EQ(device_labels.host().bytes(), labels.bytes());
}

TEST(CudaPrepareImages, GivesTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    const RandomImages colour(20, 32, 32, 3), grey(20, 28, 28, 1), small(20, 3, 2, 4);
    for (const std::int64_t n : {0, 1, 37}) {
        Buffer indices(DType::i64, n);
        for (std::int64_t i = 0; i < n; ++i) indices.set(i, static_cast<double>(i * 7 % 20));
        for (const bool augment : {false, true})
            for (const bool normalize : {false, true})
                for (const RandomImages* images : {&colour, &grey, &small})
                    for (const DType dtype : image_types)
                        for (const std::int64_t pitch : {0, 8})
                            expect_same_images(*images, indices,
                                               {augment, normalize, image_stream, 1000, pitch},
                                               dtype);
    }
}

TEST(CudaPrepareImages, TakesTheRowsAsTheyLieWithoutIndices) {
    HALFTONE_NEEDS_CUDA();
    const RandomImages images(4, 8, 6, 3);
    const ImagePreparation how{true, true, image_stream, 7};
    Buffer expected(DType::f32, 4 * 8 * 6 * 3);
    ImageStore store = images.store();
    store.labels = nullptr;
    const Array none{nullptr, DType::i64, 0};
    cpu::prepare_images(expected, none, none, store, how, {});
    const DeviceBuffer pixels(images.pixels), mean(images.mean), deviation(images.deviation);
    const DeviceBuffer y(DType::f32, expected.size());
    store.pixels = pixels.as<std::uint8_t>();
    store.mean = mean.as<float>();
    store.deviation = deviation.as<float>();
    cuda::prepare_images(y, none, none, store, how, {});
    EXPECT_EQ(y.host().bytes(), expected.bytes());
}

TEST(CudaPrepareImages, NeedsNoMeansToLeaveTheValuesAlone) {
    HALFTONE_NEEDS_CUDA();
    const RandomImages images(2, 5, 5, 3);
    const DeviceBuffer pixels(images.pixels), classes(images.labels);
    const DeviceBuffer indices(Buffer(DType::i64, {1})), y(DType::f32, 75), labels(DType::i64, 1);
    const ImageStore store{
        pixels.as<std::uint8_t>(), classes.as<std::uint8_t>(), nullptr, nullptr, 5, 5, 3};
    cuda::prepare_images(y, labels, indices, store, {.normalize = false, .random = image_stream},
                         {});
    const Buffer values = y.host();
    for (std::int64_t i = 0; i < 75; ++i)
        ASSERT_EQ(static_cast<float>(values.get(i)),
                  static_cast<float>(images.pixels.get(75 + i)) / 255);
}

}  // namespace
}  // namespace kernels::test
