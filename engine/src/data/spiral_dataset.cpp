#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "data/dataset.h"
#include "data/dataset_descriptor.h"
#include "tensor/philox.h"

namespace engine {
namespace {

/// Two interleaved spirals in the plane, one a class: at t uniform in [0, 1), radius r = 0.05 +
/// 0.95 t and angle 3 pi t (+ pi for class 1), with normal noise of deviation 0.02 on both
/// coordinates. Sample i is of class i % 2 and a pure function of (seed, stream, i).
class SpiralDataset final : public Dataset {
public:
    static constexpr std::int64_t train_size = 60000;
    static constexpr std::int64_t test_size = 10000;

    SpiralDataset(std::int64_t seed, StreamId stream, std::int64_t size);

    std::int64_t size() const override;
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;

private:
    Schema schema_;
    std::vector<float> points_;  // x, y by sample
};

/// Points in the plane and their classes.
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

}  // namespace

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
