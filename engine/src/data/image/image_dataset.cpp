#include "data/image/image_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace engine {

ChannelMoments measure(const LabelledImages& images) {
    // Counts of byte values: exact, whatever the number of pixels.
    const auto channels = static_cast<std::size_t>(images.shape[0]);
    std::vector<std::array<std::uint64_t, 256>> counts(channels);
    for (std::size_t i = 0; i < images.pixels.size(); i += channels) {
        for (std::size_t c = 0; c < channels; ++c) ++counts[c][images.pixels[i + c]];
    }
    const auto total = static_cast<double>(images.pixels.size() / channels);
    ChannelMoments moments;
    for (const auto& count : counts) {
        std::uint64_t sum = 0;
        std::uint64_t squares = 0;
        for (std::uint64_t value = 0; value < 256; ++value) {
            sum += value * count[value];
            squares += value * value * count[value];
        }
        const double mean = static_cast<double>(sum) / total;
        const double variance = static_cast<double>(squares) / total - mean * mean;
        moments.mean.push_back(mean / 255);
        moments.deviation.push_back(variance > 0 ? std::sqrt(variance) / 255 : 1);
    }
    return moments;
}

ImageDataset::ImageDataset(LabelledImages images, std::vector<std::string> names,
                           Normalization normalization)
    : images_(std::move(images)),
      schema_(classified_images(images_.shape, std::move(normalization), std::move(names))) {}

void ImageDataset::read(std::int64_t index, const SampleFields& out) const {
    const auto elements = static_cast<std::size_t>(images_.shape.numel());
    out.set_image(
        0, std::span(images_.pixels).subspan(static_cast<std::size_t>(index) * elements, elements));
    if (!out.i64(1).empty()) out.i64(1)[0] = images_.labels[static_cast<std::size_t>(index)];
}

DataParts make_image_datasets(LabelledImages train, LabelledImages test,
                              const std::vector<std::string>& names) {
    const ChannelMoments moments = measure(train);
    const Normalization normalization{{moments.mean.begin(), moments.mean.end()},
                                      {moments.deviation.begin(), moments.deviation.end()}};
    return {.train = {std::make_shared<ImageDataset>(std::move(train), names, normalization)},
            .validation = {},
            .test = {std::make_shared<ImageDataset>(std::move(test), names, normalization)}};
}

}  // namespace engine
