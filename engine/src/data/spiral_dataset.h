#pragma once

#include <memory>

#include "core/philox.h"
#include "data/dataset.h"

namespace engine {

/// Two interleaved spirals in the plane, one a class: at t uniform in [0, 1), radius r = 0.05 +
/// 0.95 t and angle 3 pi t (+ pi for class 1), with normal noise of deviation 0.02 on both
/// coordinates. Sample i is of class i % 2 and a pure function of (seed, stream, i).
class SpiralDataset final : public Dataset {
public:
    static constexpr std::int64_t train_size = 60000;
    static constexpr std::int64_t test_size = 10000;

    SpiralDataset(std::int64_t seed, StreamId stream, std::int64_t size);

    std::int64_t size() const override;
    SampleShape shape() const override { return {2, 1, 1}; }
    std::int64_t classes() const override { return 2; }
    void read(std::int64_t index, std::span<float> out) const override;
    std::int64_t label(std::int64_t index) const override { return index % 2; }
    std::vector<std::string> class_names() const override { return {"spiral A", "spiral B"}; }
    Normalization normalization() const override;

private:
    std::vector<float> points_;  // x, y by sample
};

}  // namespace engine
