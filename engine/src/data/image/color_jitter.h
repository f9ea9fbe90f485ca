#pragma once

#include "data/schema.h"

namespace engine {

/// Multiplies brightness, contrast and saturation of an RGB image in [0, 1] by factors drawn evenly
/// from [1 - strength, 1 + strength], in a random order, and clips after each: torchvision's
/// ColorJitter(strength, strength, strength). The sample at position p of epoch e takes the four
/// words of block p of RandomStream(seed, StreamId::color_jitter, e): the three factors and the
/// order.
class ColorJitter final : public SampleTransform {
public:
    explicit ColorJitter(double strength) : strength_(strength) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    double strength_;
};

/// The three changes, of pixels in the order H, W, C.
void change_brightness(std::span<float> image, float factor);
void change_contrast(std::span<float> image, float factor);
void change_saturation(std::span<float> image, float factor);

}  // namespace engine
