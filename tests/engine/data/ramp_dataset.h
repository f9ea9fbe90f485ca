#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace engine::test {

/// Images whose values say where they come from: element e of sample i is (i * 1000 + e) / 1e6,
/// never 0.
class RampDataset final : public Dataset {
public:
    RampDataset(std::int64_t size, SampleShape shape) : size_(size), shape_(shape) {}

    std::int64_t size() const override { return size_; }
    SampleShape shape() const override { return shape_; }
    std::int64_t classes() const override { return 7; }
    void read(std::int64_t index, std::span<float> out) const override {
        if (index == failing_) throw std::runtime_error("sample cannot be read");
        for (std::size_t e = 0; e < out.size(); ++e)
            out[e] = value(index, static_cast<std::int64_t>(e));
    }
    std::int64_t label(std::int64_t index) const override { return index % 7; }
    std::vector<std::string> class_names() const override {
        return std::vector<std::string>(7, "x");
    }
    Normalization normalization() const override {
        Normalization result;
        for (std::int64_t c = 0; c < shape_.channels; ++c) {
            result.mean.push_back(0.25F * static_cast<float>(c + 1));
            result.deviation.push_back(0.5F * static_cast<float>(c + 1));
        }
        return result;
    }

    static float value(std::int64_t index, std::int64_t element) {
        return static_cast<float>(index * 1000 + element + 1) / 1e6F;
    }
    /// From now on this sample throws when read.
    void fail_at(std::int64_t index) { failing_ = index; }

private:
    std::int64_t size_;
    SampleShape shape_;
    std::int64_t failing_ = -1;
};

}  // namespace engine::test
