#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace engine::test {

/// A sample of a data set with two fields: f32 values, and a label.
struct Sample {
    std::vector<float> values;
    std::int64_t label = -1;
};

template <typename T>
SampleFields::Place place_of(T* values, std::size_t count) {
    return {.data = reinterpret_cast<std::byte*>(values), .bytes = count * sizeof(T)};
}

inline Sample read_sample(const Dataset& data, std::int64_t index) {
    Sample sample;
    sample.values.resize(static_cast<std::size_t>(data.schema().fields.front().shape.numel()));
    std::array places{place_of(sample.values.data(), sample.values.size()),
                      place_of(&sample.label, 1)};
    data.read(index, SampleFields(places));
    return sample;
}

/// Reads the label without the values.
inline std::int64_t read_label(const Dataset& data, std::int64_t index) {
    std::int64_t label = -1;
    std::array places{SampleFields::Place{}, place_of(&label, 1)};
    data.read(index, SampleFields(places));
    return label;
}

}  // namespace engine::test
