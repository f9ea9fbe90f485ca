#include <algorithm>
#include <cmath>

#include "engine/picture.h"

namespace engine {
namespace {

/// The input pixels that an output pixel is a weighted mean of.
struct Window {
    int first = 0;
    std::vector<double> weights;
};

/// A triangle as wide as the step between output pixels, at least two input pixels.
std::vector<Window> windows(int from, int to) {
    const double step = static_cast<double>(from) / to;
    const double reach = std::max(step, 1.0);
    std::vector<Window> out;
    for (int i = 0; i < to; ++i) {
        const double centre = (i + 0.5) * step;
        Window window;
        window.first = std::max(static_cast<int>(centre - reach + 0.5), 0);
        const int end = std::min(static_cast<int>(centre + reach + 0.5), from);
        double sum = 0;
        for (int at = window.first; at < end; ++at) {
            const double distance = std::abs((at + 0.5 - centre) / reach);
            window.weights.push_back(std::max(1 - distance, 0.0));
            sum += window.weights.back();
        }
        for (double& weight : window.weights) weight /= sum;
        out.push_back(std::move(window));
    }
    return out;
}

std::uint8_t rounded(double value) {
    return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

Picture resized_across(const Picture& picture, int width) {
    Picture out{width, picture.height, {}};
    out.rgb.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(out.height) * 3);
    const auto all = windows(picture.width, width);
    std::size_t at = 0;
    for (int y = 0; y < picture.height; ++y) {
        const std::uint8_t* row = picture.rgb.data() + static_cast<std::size_t>(y) *
                                                           static_cast<std::size_t>(picture.width) *
                                                           3;
        for (const Window& window : all) {
            for (int channel = 0; channel < 3; ++channel) {
                double sum = 0;
                const std::uint8_t* pixel = row + window.first * 3 + channel;
                for (const double weight : window.weights) {
                    sum += weight * *pixel;
                    pixel += 3;
                }
                out.rgb[at++] = rounded(sum);
            }
        }
    }
    return out;
}

Picture transposed(const Picture& picture) {
    Picture out{picture.height, picture.width, std::vector<std::uint8_t>(picture.rgb.size())};
    const auto width = static_cast<std::size_t>(picture.width);
    const auto height = static_cast<std::size_t>(picture.height);
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x)
            std::copy_n(&picture.rgb[(y * width + x) * 3], 3, &out.rgb[(x * height + y) * 3]);
    }
    return out;
}

Picture cropped(const Picture& picture, int width, int height) {
    const auto left = static_cast<std::size_t>((picture.width - width) / 2);
    const auto top = static_cast<std::size_t>((picture.height - height) / 2);
    Picture out{width, height, {}};
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
        const auto* row =
            &picture.rgb[((top + y) * static_cast<std::size_t>(picture.width) + left) * 3];
        out.rgb.insert(out.rgb.end(), row, row + width * 3);
    }
    return out;
}

}  // namespace

Picture resized(const Picture& picture, int width, int height) {
    if (picture.width == width && picture.height == height) return picture;
    const Picture across = resized_across(picture, width);
    return transposed(resized_across(transposed(across), height));
}

Picture fitted(const Picture& picture, int width, int height) {
    const double scale = std::max(static_cast<double>(width) / picture.width,
                                  static_cast<double>(height) / picture.height);
    const auto side = [scale](int pixels, int least) {
        return std::max(static_cast<int>(std::lround(pixels * scale)), least);
    };
    return cropped(resized(picture, side(picture.width, width), side(picture.height, height)),
                   width, height);
}

}  // namespace engine
