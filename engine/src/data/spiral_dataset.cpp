#include "data/spiral_dataset.h"

#include <cmath>
#include <numbers>

namespace engine {

SpiralDataset::SpiralDataset(std::int64_t seed, StreamId stream, std::int64_t size)
    : points_(static_cast<std::size_t>(size) * 2) {
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

void SpiralDataset::read(std::int64_t index, std::span<float> out) const {
    out[0] = points_[static_cast<std::size_t>(index) * 2];
    out[1] = points_[static_cast<std::size_t>(index) * 2 + 1];
}

Normalization SpiralDataset::normalization() const {
    // The spirals are each other's mirror image, so the mean is 0. The deviations are those of the
    // formula above, by numerical integration over t, with the noise added.
    return {.mean = {0.0F, 0.0F}, .deviation = {0.4223F, 0.4163F}};
}

}  // namespace engine
