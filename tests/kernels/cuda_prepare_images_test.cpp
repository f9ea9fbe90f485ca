#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/image_store.h"
#include "kernels/prepare_images.h"

namespace kernels::test {
namespace {

constexpr PhiloxStream stream{{11, 0}, 2, 5};

void expect_same_images(const RandomImages& images, const Buffer& indices,
                        const ImagePreparation& how) {
    const std::int64_t elements = images.height * images.width * images.channels;
    Buffer y(DType::f32, indices.size() * elements), labels(DType::i64, indices.size());
    cpu::prepare_images(y, labels, indices, images.store(), how, {});
    const DeviceBuffer pixels(images.pixels), classes(images.labels), mean(images.mean),
        deviation(images.deviation), device_indices(indices);
    const DeviceBuffer device_y(DType::f32, y.size()), device_labels(DType::i64, labels.size());
    const ImageStore store{pixels.as<std::uint8_t>(),
                           classes.as<std::uint8_t>(),
                           mean.as<float>(),
                           deviation.as<float>(),
                           images.height,
                           images.width,
                           images.channels};
    cuda::prepare_images(device_y, device_labels, device_indices, store, how, {});
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
                    expect_same_images(*images, indices, {augment, normalize, stream, 1000});
    }
}

TEST(CudaPrepareImages, NeedsNoMeansToLeaveTheValuesAlone) {
    HALFTONE_NEEDS_CUDA();
    const RandomImages images(2, 5, 5, 3);
    const DeviceBuffer pixels(images.pixels), classes(images.labels);
    const DeviceBuffer indices(Buffer(DType::i64, {1})), y(DType::f32, 75), labels(DType::i64, 1);
    const ImageStore store{
        pixels.as<std::uint8_t>(), classes.as<std::uint8_t>(), nullptr, nullptr, 5, 5, 3};
    cuda::prepare_images(y, labels, indices, store, {.normalize = false, .random = stream}, {});
    const Buffer values = y.host();
    for (std::int64_t i = 0; i < 75; ++i)
        ASSERT_EQ(static_cast<float>(values.get(i)),
                  static_cast<float>(images.pixels.get(75 + i)) / 255);
}

}  // namespace
}  // namespace kernels::test
