#include "data/spiral_dataset.h"
#include "data/dataset_descriptor.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace engine {

Schema spiral_schema() {
    // The spirals are each other's mirror image, so the mean is 0. The deviations are those of the
    // formula below, by numerical integration over t, with the noise added.
    return classified_features({{0.0F, 0.0F}, {0.4223F, 0.4163F}}, {"spiral A", "spiral B"});
}

SpiralDataset::SpiralDataset(std::int64_t seed, StreamId stream, std::int64_t size)
    : schema_(spiral_schema()), points_(static_cast<std::size_t>(size) * 2) {
    const RandomStream random(seed, stream);
    for (std::size_t i = 0; i < points_.size() / 2; ++i) {
        const PhiloxBlock words = random.block(i);
        const double t = RandomStream::to_uniform(words[0]);
        const auto noise = RandomStream::to_normals(words[2], words[3]);
        const double radius = 0.05 + 0.95 * t;
        const double angle = std::numbers::pi * (3 * t + static_cast<double>(i % 2));
        points_[2 * i] = static_cast<float>(radius * std::cos(angle) + 0.02 * noise[0]);
        points_[2 * i + 1] = static_cast<float>(radius * std::sin(angle) + 0.02 * noise[1]);
    }
}

std::int64_t SpiralDataset::size() const { return static_cast<std::int64_t>(points_.size() / 2); }

void SpiralDataset::read(std::int64_t index, const SampleFields& out) const {
    const float* point = points_.data() + static_cast<std::size_t>(index) * 2;
    std::copy_n(point, out.f32(0).size(), out.f32(0).begin());
    if (!out.i64(1).empty()) out.i64(1)[0] = index % 2;
}

DatasetDescriptor spirals_descriptor() {
    return {.kind = "spirals",
            .title = "Spirals",
            .summary =
                "Points of two interleaved spirals, made from the seed; for the smallest networks.",
            .unit = "points",
            .schema = [](const DatasetConfig&) { return spiral_schema(); },
            .open =
                [](const DatasetConfig& config, std::int64_t seed, const std::stop_token&) {
                    return generate<SpiralDataset>(config, seed, StreamId::points_train,
                                                   StreamId::points_test);
                }};
}

}  // namespace engine
