#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace engine::test {

/// Images (C, H, W) or features (F) whose values identify their sample: element e of sample i is (i
/// * 1000 + e + 1) / 1e6, never 0. The label of sample i is i % 7.
class RampDataset final : public Dataset {
public:
    RampDataset(std::int64_t size, const Shape& shape) : size_(size) {
        Normalization normalization;
        for (std::int64_t c = 0; c < shape[0]; ++c) {
            normalization.mean.push_back(0.25F * static_cast<float>(c + 1));
            normalization.deviation.push_back(0.5F * static_cast<float>(c + 1));
        }
        std::vector<std::string> classes(7, "x");
        schema_ = shape.rank() == 3
                      ? classified_images(shape, std::move(normalization), std::move(classes))
                      : classified_features(std::move(normalization), std::move(classes));
    }

    std::int64_t size() const override { return size_; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override {
        if (index == failing_) throw std::runtime_error("sample cannot be read");
        const auto values = out.f32(0);
        for (std::size_t e = 0; e < values.size(); ++e)
            values[e] = value(index, static_cast<std::int64_t>(e));
        if (!out.i64(1).empty()) out.i64(1)[0] = index % 7;
    }

    static float value(std::int64_t index, std::int64_t element) {
        return static_cast<float>(index * 1000 + element + 1) / 1e6F;
    }
    /// Makes every later read of this sample throw.
    void fail_at(std::int64_t index) { failing_ = index; }

private:
    std::int64_t size_;
    Schema schema_;
    std::int64_t failing_ = -1;
};

}  // namespace engine::test
