#include "data/detection/drawn_detections.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

Picture white(int width, int height) {
    return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), 255)};
}
int red(const Picture& picture, int x, int y) {
    return picture.rgb[static_cast<std::size_t>(3 * (y * picture.width + x))];
}

TEST(DrawnDetections, FillMasksAndOutlineBoxesInTheColourOfTheClass) {
    Picture picture = white(20, 12);
    Detection object{.label = 1, .score = 0.9, .box = {2, 1, 12, 10}};
    object.mask = fill_polygon(std::vector<double>{6, 4, 12, 4, 12, 8, 6, 8}, 12, 20);
    draw_detections(picture, std::vector<Detection>{object});
    constexpr int line = 0xb8, filled = 230;  // 255 + 0.35 (0xb8 - 255)
    EXPECT_EQ(red(picture, 8, 6), filled);
    EXPECT_EQ(red(picture, 4, 3), 255) << "in the box, and not in the mask";
    for (const auto& [x, y] : {std::pair{2, 1}, {3, 2}, {13, 10}, {12, 9}, {2, 6}, {13, 6}, {8, 1}})
        EXPECT_EQ(red(picture, x, y), line) << x << ", " << y;
    EXPECT_EQ(red(picture, 1, 6), 255);
    EXPECT_EQ(red(picture, 14, 6), 255);
}

TEST(DrawnDetections, StayInThePictureAndTakeColoursInTurn) {
    Picture picture = white(8, 8), other = white(8, 8);
    Detection object{.label = 3, .box = {-5, -5, 100, 100}, .mask = {2, 2, {0, 4}}};
    draw_detections(picture, std::vector<Detection>{object});
    object.label = 13;
    draw_detections(other, std::vector<Detection>{object});
    EXPECT_EQ(picture.rgb, other.rgb);
    EXPECT_EQ(red(picture, 0, 0), 0x66);
    EXPECT_EQ(red(picture, 4, 4), 255) << "a mask of another size is left out";
}

TEST(DrawnDetections, SmallBoxesLieOverLargeOnes) {
    Picture picture = white(20, 20);
    const std::vector<Detection> both{{.label = 2, .box = {4, 4, 6, 6}},
                                      {.label = 1, .box = {4, 4, 15, 15}}};
    draw_detections(picture, both);
    EXPECT_EQ(red(picture, 4, 4), 0x08);
    EXPECT_EQ(red(picture, 4, 15), 0xb8);
}

}  // namespace
}  // namespace engine
