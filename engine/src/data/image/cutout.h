#pragma once

#include "data/schema.h"

namespace engine {

/// Zeros in a square whose centre is any pixel of the image (DeVries and Taylor 2017). It comes
/// after the normalisation, so that the square is of the mean colour. The sample at position p of
/// epoch e takes block p of RandomStream(seed, StreamId::cutout, e): row, column and two unused.
class Cutout final : public SampleTransform {
public:
    /// `shape`: (C, H, W) of the images. `side` of the square; of an even one the centre is the
    /// pixel right below its middle.
    Cutout(const Shape& shape, std::int64_t side)
        : channels_(shape[0]), height_(shape[1]), width_(shape[2]), side_(side) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    std::int64_t channels_, height_, width_, side_;
};

}  // namespace engine
