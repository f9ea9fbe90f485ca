#include "data/image/image_transforms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "read_sample.h"

namespace engine {
namespace {

constexpr std::int64_t height = 6, width = 8, channels = 3;

std::vector<float> cut(std::int64_t side, std::uint64_t position, std::int64_t epoch = 0) {
    std::vector<float> image(height * width * channels, 1.0F);
    std::array places{test::place_of(image.data(), image.size())};
    Cutout({channels, height, width}, side).apply(SampleFields(places), 0, {1, epoch, position});
    return image;
}

struct Square {
    std::int64_t top = height, left = width, bottom = -1, right = -1;  ///< zeros, inclusive
    std::int64_t zeros = 0;
};

Square square_of(const std::vector<float>& image) {
    Square out;
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            const float* pixel = &image[static_cast<std::size_t>((y * width + x) * channels)];
            if (*pixel != 0) continue;
            EXPECT_EQ(std::count(pixel, pixel + channels, 0.0F), channels) << "all channels";
            out = {std::min(out.top, y), std::min(out.left, x), std::max(out.bottom, y),
                   std::max(out.right, x), out.zeros + 1};
        }
    }
    return out;
}

TEST(Cutout, BlanksASquareThatMayReachOverTheEdge) {
    std::set<std::pair<std::int64_t, std::int64_t>> corners;
    bool whole = false, clipped = false;
    for (std::uint64_t position = 0; position < 2000; ++position) {
        const Square square = square_of(cut(3, position));
        const std::int64_t high = square.bottom - square.top + 1;
        const std::int64_t wide = square.right - square.left + 1;
        EXPECT_EQ(square.zeros, high * wide);
        EXPECT_GE(high, 2) << "the centre is a pixel of the image";
        EXPECT_LE(high, 3);
        whole = whole || square.zeros == 9;
        clipped = clipped || square.zeros == 4;
        corners.emplace(square.bottom, square.right);
    }
    EXPECT_TRUE(whole);
    EXPECT_TRUE(clipped);
    EXPECT_GE(corners.size(), 35U) << "centres all over the image";
}

TEST(Cutout, FollowsFromSeedEpochAndPosition) {
    EXPECT_EQ(cut(3, 5), cut(3, 5));
    int differing = 0;
    for (std::uint64_t position = 0; position < 100; ++position)
        differing += cut(3, position, 0) != cut(3, position, 1);
    EXPECT_GT(differing, 80);
}

TEST(Cutout, AsLargeAsTwoImagesBlanksAll) {
    const auto image = cut(2 * width, 3);
    EXPECT_EQ(square_of(image).zeros, height * width);
}

}  // namespace
}  // namespace engine
