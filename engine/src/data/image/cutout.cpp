#include "data/image/cutout.h"

#include <algorithm>

#include "tensor/philox.h"

namespace engine {

void Cutout::apply(const SampleFields& sample, std::size_t field, const SamplePlace& place) const {
    const RandomStream random(place.seed, StreamId::cutout,
                              static_cast<std::uint32_t>(place.epoch));
    const PhiloxBlock words = random.block(place.position);
    const auto start = [&](std::uint32_t word, std::int64_t length) -> std::int64_t {
        return RandomStream::to_bounded(word, static_cast<std::uint32_t>(length)) - side_ / 2;
    };
    const std::int64_t top = start(words[0], height_), left = start(words[1], width_);
    const std::int64_t first = std::max<std::int64_t>(left, 0);
    const std::int64_t end = std::min(left + side_, width_);
    float* image = sample.f32(field).data();
    for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + side_, height_); ++y) {
        float* row = image + y * width_ * channels_;
        std::fill(row + first * channels_, row + end * channels_, 0.0F);
    }
}

}  // namespace engine
