#pragma once

#include <vector>

#include "data/dataset.h"
#include "tensor/philox.h"

namespace engine {

/// Points in the plane and their classes.
Schema spiral_schema();

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

}  // namespace engine
