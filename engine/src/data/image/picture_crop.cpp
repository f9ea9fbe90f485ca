#include "data/image/picture_crop.h"

#include <algorithm>
#include <cmath>

#include "tensor/philox.h"

namespace engine {
namespace {

constexpr double least_area = 0.08, most_area = 1;
constexpr double lowest_ratio = 3.0 / 4, highest_ratio = 4.0 / 3;
constexpr std::uint64_t blocks_a_sample = 16, draws = 10;

/// Evenly from [low, high).
double between(std::uint32_t word, double low, double high) {
    return low + word * 0x1p-32 * (high - low);
}

/// Whole, with halves to the even number, as by Python's round().
int whole(double value) { return static_cast<int>(std::nearbyint(value)); }

PictureBox middle_box(int width, int height) {
    const double ratio = static_cast<double>(width) / height;
    PictureBox box{0, 0, width, height};
    if (ratio < lowest_ratio) box.height = std::min(whole(width / lowest_ratio), height);
    if (ratio > highest_ratio) box.width = std::min(whole(height * highest_ratio), width);
    box.left = (width - box.width) / 2;
    box.top = (height - box.height) / 2;
    return box;
}

}  // namespace

PictureBox random_box(int width, int height, const SamplePlace& place) {
    const RandomStream random(place.seed, StreamId::picture_crop,
                              static_cast<std::uint32_t>(place.epoch));
    const double pixels = static_cast<double>(width) * height;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
        const PhiloxBlock words = random.block(place.position * blocks_a_sample + draw);
        const double area = pixels * between(words[0], least_area, most_area);
        const double ratio =
            std::exp(between(words[1], std::log(lowest_ratio), std::log(highest_ratio)));
        const int w = whole(std::sqrt(area * ratio)), h = whole(std::sqrt(area / ratio));
        if (w <= 0 || w > width || h <= 0 || h > height) continue;
        const auto place_in = [](std::uint32_t word, int room) {
            return static_cast<int>(
                RandomStream::to_bounded(word, static_cast<std::uint32_t>(room) + 1));
        };
        return {place_in(words[3], width - w), place_in(words[2], height - h), w, h};
    }
    return middle_box(width, height);
}

bool is_flipped(const SamplePlace& place) {
    const RandomStream random(place.seed, StreamId::augment,
                              static_cast<std::uint32_t>(place.epoch));
    return (random.block(place.position)[2] & 1) != 0;
}

void mirror(Picture& picture) {
    const auto row = static_cast<std::size_t>(picture.width) * 3;
    for (std::size_t first = 0; first < picture.rgb.size(); first += row) {
        std::uint8_t* left = &picture.rgb[first];
        std::uint8_t* right = left + row - 3;
        for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
    }
}

}  // namespace engine
