#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/io/picture.h"

namespace engine {
namespace {

// PIL's: 8 bits of a pixel and 2 for sums of weights that exceed 1 leave 22 for the weights, so
// that a sum fits 32 bits.
constexpr int weight_bits = 22;
constexpr int half = 1 << (weight_bits - 1);

/// The input pixels that each output pixel is a weighted mean of, along one axis.
struct Windows {
    struct Window {
        int first = 0;  ///< input pixel
        int count = 0;
        std::size_t weights = 0;  ///< index of its first weight
    };
    std::vector<Window> windows;
    std::vector<int> weights;

    std::span<const int> of(const Window& window) const {
        return {weights.data() + window.weights, static_cast<std::size_t>(window.count)};
    }
};

/// A triangle as wide as the step between output pixels, at least two input pixels.
Windows windows(int from, int to) {
    const double step = static_cast<double>(from) / to;
    const double reach = std::max(step, 1.0);
    Windows out;
    std::vector<double> shares;
    for (int i = 0; i < to; ++i) {
        const double centre = (i + 0.5) * step;
        const int first = std::max(static_cast<int>(centre - reach + 0.5), 0);
        const int end = std::min(static_cast<int>(centre + reach + 0.5), from);
        shares.clear();
        double sum = 0;
        for (int at = first; at < end; ++at) {
            shares.push_back(std::max(1 - std::abs((at - centre + 0.5) * (1 / reach)), 0.0));
            sum += shares.back();
        }
        out.windows.push_back({first, end - first, out.weights.size()});
        for (const double share : shares)
            out.weights.push_back(static_cast<int>(0.5 + share / sum * (1 << weight_bits)));
    }
    return out;
}

std::uint8_t clipped(int sum) {
    return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
}

/// Rows of pixels, perhaps within a larger picture.
struct Rows {
    const std::uint8_t* first;
    std::size_t stride;  ///< bytes from row to row

    const std::uint8_t* row(int y) const { return first + static_cast<std::size_t>(y) * stride; }
};

Rows rows_of(const Picture& picture, const PictureBox& box) {
    const auto width = static_cast<std::size_t>(picture.width);
    const std::size_t first =
        (static_cast<std::size_t>(box.top) * width + static_cast<std::size_t>(box.left)) * 3;
    return {picture.rgb.data() + first, width * 3};
}

void resize_row(std::uint8_t* out, const std::uint8_t* in, const Windows& across) {
    for (const Windows::Window& window : across.windows) {
        const std::uint8_t* pixel = in + window.first * 3;
        int red = half, green = half, blue = half;
        for (const int weight : across.of(window)) {
            red += weight * pixel[0];
            green += weight * pixel[1];
            blue += weight * pixel[2];
            pixel += 3;
        }
        out[0] = clipped(red);
        out[1] = clipped(green);
        out[2] = clipped(blue);
        out += 3;
    }
}

void copy_rows(Picture& out, const Rows& in, std::size_t row_bytes) {
    for (int y = 0; y < out.height; ++y)
        std::copy_n(in.row(y), row_bytes, out.rgb.data() + static_cast<std::size_t>(y) * row_bytes);
}

Picture empty_picture(int width, int height) {
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    return {width, height, std::vector<std::uint8_t>(pixels * 3)};
}

Picture resized_across(const Rows& in, int from, int height, int width) {
    Picture out = empty_picture(width, height);
    const auto row_bytes = static_cast<std::size_t>(width) * 3;
    if (from == width) {
        copy_rows(out, in, row_bytes);
        return out;
    }
    const Windows across = windows(from, width);
    for (int y = 0; y < height; ++y)
        resize_row(out.rgb.data() + static_cast<std::size_t>(y) * row_bytes, in.row(y), across);
    return out;
}

/// Whole rows are added up, so that the loop over a row is the inner one.
Picture resized_down(const Picture& in, int height) {
    if (in.height == height) return in;
    Picture out = empty_picture(in.width, height);
    const auto row_bytes = static_cast<std::size_t>(in.width) * 3;
    const Windows down = windows(in.height, height);
    std::vector<int> sums(row_bytes);
    std::uint8_t* to = out.rgb.data();
    for (const Windows::Window& window : down.windows) {
        std::fill(sums.begin(), sums.end(), half);
        const std::uint8_t* row =
            in.rgb.data() + static_cast<std::size_t>(window.first) * row_bytes;
        for (const int weight : down.of(window)) {
            for (std::size_t x = 0; x < row_bytes; ++x) sums[x] += weight * row[x];
            row += row_bytes;
        }
        for (const int sum : sums) *to++ = clipped(sum);
    }
    return out;
}

PictureBox whole(const Picture& picture) { return {0, 0, picture.width, picture.height}; }

}  // namespace

Picture cropped(const Picture& picture, const PictureBox& box) {
    Picture out = empty_picture(box.width, box.height);
    copy_rows(out, rows_of(picture, box), static_cast<std::size_t>(box.width) * 3);
    return out;
}

Picture resized(const Picture& picture, const PictureBox& box, int width, int height) {
    return resized_down(resized_across(rows_of(picture, box), box.width, box.height, width),
                        height);
}

Picture resized(const Picture& picture, int width, int height) {
    return resized(picture, whole(picture), width, height);
}

Picture fitted(const Picture& picture, int width, int height) {
    const double scale = std::max(static_cast<double>(width) / picture.width,
                                  static_cast<double>(height) / picture.height);
    const auto side = [scale](int pixels, int least) {
        return std::max(static_cast<int>(std::lround(pixels * scale)), least);
    };
    const Picture out = resized(picture, side(picture.width, width), side(picture.height, height));
    return cropped(out, {(out.width - width) / 2, (out.height - height) / 2, width, height});
}

Picture centre_square(const Picture& picture, int short_side, int size) {
    const auto [least, most] = std::minmax(picture.width, picture.height);
    // The longer side is cut to a whole number, as by torchvision.
    const int long_side = static_cast<int>(static_cast<double>(short_side) * most / least);
    const bool upright = picture.width <= picture.height;
    const Picture out =
        upright ? resized(picture, short_side, long_side) : resized(picture, long_side, short_side);
    // Halves go to the even number, as Python's round() does.
    const auto margin = [size](int side) {
        return static_cast<int>(std::nearbyint((side - size) / 2.0));
    };
    return cropped(out, {margin(out.width), margin(out.height), size, size});
}

}  // namespace engine
