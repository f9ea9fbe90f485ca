#include "data/loader/sample_picture.h"

#include <algorithm>
#include <cmath>

namespace engine {

Picture picture_of_pixels(const FieldSpec& image, std::span<const float> pixels) {
    const auto channels = static_cast<std::size_t>(image.shape[0]);
    Picture out{static_cast<int>(image.shape[2]), static_cast<int>(image.shape[1]), {}};
    out.rgb.reserve(pixels.size() / channels * 3);
    for (std::size_t at = 0; at + channels <= pixels.size(); at += channels) {
        for (std::size_t c = 0; c < 3; ++c) {
            const auto value = static_cast<double>(pixels[at + (channels >= 3 ? c : 0)]);
            // The order of the arguments makes NaN black.
            const double shown = std::min(std::max(0.0, value), 1.0);
            out.rgb.push_back(static_cast<std::uint8_t>(std::lround(shown * 255)));
        }
    }
    return out;
}

}  // namespace engine
