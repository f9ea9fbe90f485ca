#include "engine/dataset_preview.h"

#include <algorithm>
#include <cmath>

#include "data/dataset.h"

namespace engine {
namespace {

DatasetPreview::Thumbnail thumbnail(const Dataset& data, std::int64_t index) {
    const SampleShape shape = data.shape();
    std::vector<float> pixels(static_cast<std::size_t>(shape.elements()));
    data.read(index, pixels);
    DatasetPreview::Thumbnail result{static_cast<int>(shape.width),
                                     static_cast<int>(shape.height),
                                     static_cast<int>(data.label(index)),
                                     {}};
    const auto channels = static_cast<std::size_t>(shape.channels);
    for (std::size_t at = 0; at < pixels.size(); at += channels) {
        for (std::size_t c = 0; c < 3; ++c) {
            const float value = pixels[at + (channels == 3 ? c : 0)];  // grey three times
            result.rgb.push_back(static_cast<std::uint8_t>(std::lround(value * 255)));
        }
    }
    return result;
}

}  // namespace

DatasetPreview preview_dataset(const DatasetConfig& dataset, std::int64_t seed, int thumbnails) {
    const auto [train, test] = open_dataset(dataset, seed);
    DatasetPreview preview;
    preview.train_samples = train->size();
    preview.test_samples = test->size();
    preview.classes = train->classes();
    preview.class_names = train->class_names();
    preview.train_counts.resize(static_cast<std::size_t>(preview.classes));
    for (std::int64_t i = 0; i < train->size(); ++i) {
        ++preview.train_counts[static_cast<std::size_t>(train->label(i))];
    }
    if (!train->shape().is_image()) return preview;
    const auto count = std::min<std::int64_t>(thumbnails, train->size());
    for (std::int64_t i = 0; i < count; ++i) preview.thumbnails.push_back(thumbnail(*train, i));
    return preview;
}

}  // namespace engine
