#include "io/coco/coco_masks.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace engine {
namespace {

TEST(CocoMasks, PolygonsComeBackFromAllBlocks) {
    CocoMasks masks;
    std::vector<CocoMasks::Place> places;
    constexpr std::array<std::uint32_t, 2> sizes = {1000, 6};
    for (int i = 0; i < 400; ++i) {  // 3 MiB
        std::vector<double> points(1000, i);
        points.insert(points.end(), 6, -i);
        places.push_back(masks.add_polygons(points, sizes));
    }
    // More than a block.
    const std::vector<double> large(300'000, 0.5);
    const std::array size = {static_cast<std::uint32_t>(large.size())};
    places.push_back(masks.add_polygons(large, size));
    const CocoMasks moved = std::move(masks);
    for (int i = 0; i < 400; ++i) {
        const MaskPolygons expected = {std::vector<double>(1000, i), std::vector<double>(6, -i)};
        EXPECT_EQ(moved.polygons(places[static_cast<std::size_t>(i)]), expected) << i;
    }
    EXPECT_EQ(moved.polygons(places.back()), MaskPolygons{large});
    EXPECT_EQ(places.back().kind, CocoMasks::Kind::polygons);
}

TEST(CocoMasks, RunsComeBackFromAllBlocks) {
    CocoMasks masks;
    std::vector<CocoMasks::Place> places;
    const auto text = [](int i) {
        return std::string(static_cast<std::size_t>(9000 + i), static_cast<char>('0' + i % 40));
    };
    for (int i = 0; i < 300; ++i) places.push_back(masks.add_runs(text(i)));  // 2.7 MB
    for (int i = 0; i < 300; ++i)
        EXPECT_EQ(masks.text(places[static_cast<std::size_t>(i)]), text(i)) << i;
    EXPECT_EQ(places.front().kind, CocoMasks::Kind::runs);
    EXPECT_EQ(CocoMasks::Place{}.kind, CocoMasks::Kind::none);
}

}  // namespace
}  // namespace engine
