#pragma once

#include "kernels/prepare_images.h"
#include "kernels/support.h"

namespace kernels::test {

/// A data set of random bytes.
struct RandomImages {
    RandomImages(std::int64_t size, std::int64_t height_, std::int64_t width_,
                 std::int64_t channels_)
        : height(height_),
          width(width_),
          channels(channels_),
          pixels(DType::u8, size * height_ * width_ * channels_),
          labels(DType::u8, size),
          mean(DType::f32, channels_),
          deviation(DType::f32, channels_) {
        std::mt19937 engine(7);
        for (std::int64_t i = 0; i < pixels.size(); ++i)
            pixels.set(i, static_cast<double>(engine() % 256));
        for (std::int64_t i = 0; i < size; ++i) labels.set(i, static_cast<double>(engine() % 256));
        for (std::int64_t c = 0; c < channels; ++c) {
            mean.set(c, 0.3 + 0.1 * static_cast<double>(c));
            deviation.set(c, 0.2 + 0.05 * static_cast<double>(c));
        }
    }
    ImageStore store() const {
        return {static_cast<const std::uint8_t*>(pixels.view().data),
                static_cast<const std::uint8_t*>(labels.view().data),
                static_cast<const float*>(mean.view().data),
                static_cast<const float*>(deviation.view().data),
                height,
                width,
                channels};
    }

    std::int64_t height, width, channels;
    Buffer pixels, labels, mean, deviation;
};

}  // namespace kernels::test
