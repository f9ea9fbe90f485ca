#include "data/image/image_transforms.h"

#include <algorithm>
#include <cstdlib>

#include "tensor/philox.h"

namespace engine {
namespace {

std::vector<float> repeat(const std::vector<float>& channels, std::int64_t times) {
    std::vector<float> row;
    for (std::int64_t i = 0; i < times; ++i)
        row.insert(row.end(), channels.begin(), channels.end());
    return row;
}

/// Copies `pixels` pixels of `channels` floats each, last pixel first.
void copy_reversed(float* out, const float* in, std::int64_t pixels, std::int64_t channels) {
    for (std::int64_t x = 0; x < pixels; ++x) {
        const float* pixel = in + (pixels - 1 - x) * channels;
        for (std::int64_t c = 0; c < channels; ++c) out[x * channels + c] = pixel[c];
    }
}

}  // namespace

void CropAndFlip::apply(const SampleFields& sample, std::size_t field,
                        const SamplePlace& place) const {
    const RandomStream random(place.seed, StreamId::augment,
                              static_cast<std::uint32_t>(place.epoch));
    const PhiloxBlock words = random.block(place.position);
    const std::int64_t down = RandomStream::to_bounded(words[0], 2 * padding + 1) - padding;
    const std::int64_t right = RandomStream::to_bounded(words[1], 2 * padding + 1) - padding;
    const bool flip = (words[2] & 1) != 0;

    // Row y, pixel x of the crop is pixel (y + down, x + right) of the image, 0 outside of it.
    const std::span<float> image = sample.f32(field);
    static thread_local std::vector<float> source;
    source.assign(image.begin(), image.end());
    std::fill(image.begin(), image.end(), 0.0F);
    const std::int64_t row = width_ * channels_;
    const std::int64_t first = std::max<std::int64_t>(0, -right);
    const std::int64_t kept = std::max<std::int64_t>(0, width_ - std::abs(right));
    for (std::int64_t y = std::max<std::int64_t>(0, -down); y < std::min(height_, height_ - down);
         ++y) {
        const float* from = source.data() + (y + down) * row + (first + right) * channels_;
        float* to = image.data() + y * row;
        if (flip) {
            copy_reversed(to + (width_ - first - kept) * channels_, from, kept, channels_);
        } else {
            std::copy(from, from + kept * channels_, to + first * channels_);
        }
    }
}

Normalize::Normalize(const Normalization& normalization, std::int64_t width)
    : mean_row_(repeat(normalization.mean, width)),
      deviation_row_(repeat(normalization.deviation, width)) {}

void Normalize::apply(const SampleFields& sample, std::size_t field, const SamplePlace&) const {
    const std::size_t row = mean_row_.size();
    const float* mean = mean_row_.data();
    const float* deviation = deviation_row_.data();
    const std::span<float> all = sample.f32(field);
    for (std::size_t start = 0; start < all.size(); start += row) {
        float* values = all.data() + start;
        for (std::size_t i = 0; i < row; ++i) values[i] = (values[i] - mean[i]) / deviation[i];
    }
}

}  // namespace engine
