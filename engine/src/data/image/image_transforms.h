#pragma once

#include <vector>

#include "data/schema.h"

namespace engine {

/// Random crop after padding by 4 zeros on each side, then a horizontal flip of half of the images.
/// The sample at position p of epoch e takes the four words of block p of RandomStream(seed,
/// StreamId::augment, e): vertical shift, horizontal shift, flip, and one unused.
class CropAndFlip final : public SampleTransform {
public:
    static constexpr std::int64_t padding = 4;

    /// `shape`: (C, H, W) of the images.
    explicit CropAndFlip(const Shape& shape)
        : channels_(shape[0]), height_(shape[1]), width_(shape[2]) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    std::int64_t channels_, height_, width_;
};

/// (value - mean) / deviation, by channel of an image or by feature.
class Normalize final : public SampleTransform {
public:
    /// `width`: pixels in a row of the image; 1 for features.
    Normalize(const Normalization& normalization, std::int64_t width);
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    std::vector<float> mean_row_;  // a row of pixels (W * C) of means and of deviations
    std::vector<float> deviation_row_;
};

}  // namespace engine
