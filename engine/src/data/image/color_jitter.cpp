#include "data/image/color_jitter.h"

#include <algorithm>
#include <array>

#include "tensor/philox.h"

namespace engine {
namespace {

/// Luma of ITU-R BT.601, with torchvision's weights.
float grey_of(const float* pixel) {
    return 0.2989F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
}

float blended(float value, float other, float factor) {
    return std::clamp(factor * value + (1 - factor) * other, 0.0F, 1.0F);
}

using Change = void (*)(std::span<float>, float);

/// All orders of three.
constexpr std::array<std::array<std::size_t, 3>, 6> orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

}  // namespace

void change_brightness(std::span<float> image, float factor) {
    for (float& value : image) value = blended(value, 0, factor);
}

void change_contrast(std::span<float> image, float factor) {
    double sum = 0;
    for (std::size_t at = 0; at < image.size(); at += 3)
        sum += static_cast<double>(grey_of(&image[at]));
    const auto mean = static_cast<float>(sum / static_cast<double>(image.size() / 3));
    for (float& value : image) value = blended(value, mean, factor);
}

void change_saturation(std::span<float> image, float factor) {
    for (std::size_t at = 0; at < image.size(); at += 3) {
        const float grey = grey_of(&image[at]);
        for (std::size_t c = 0; c < 3; ++c) image[at + c] = blended(image[at + c], grey, factor);
    }
}

void ColorJitter::apply(const SampleFields& sample, std::size_t field,
                        const SamplePlace& place) const {
    constexpr std::array<Change, 3> changes{change_brightness, change_contrast, change_saturation};
    const RandomStream random(place.seed, StreamId::color_jitter,
                              static_cast<std::uint32_t>(place.epoch));
    const PhiloxBlock words = random.block(place.position);
    for (const std::size_t which : orders[RandomStream::to_bounded(words[3], orders.size())]) {
        const double even = words[which] * 0x1p-32;
        const double factor = std::max(1 - strength_, 0.0) + even * 2 * strength_;
        changes[which](sample.f32(field), static_cast<float>(factor));
    }
}

}  // namespace engine
