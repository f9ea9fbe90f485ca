#include "io/coco/polygon_fill.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "support/golden_lines.h"
#include "support/drawn_numbers.h"

// Values of pycocotools: tests/peer/coco_metric.py, which draws the same polygons.
namespace engine {
namespace {

using test_support::golden_lines;
using support::DrawnNumbers;

constexpr const char* polygon_cases = "coco_masks.txt.xz";

std::vector<double> drawn_polygon(DrawnNumbers& draw, int height, int width) {
    const int kind = draw.below(4);
    const auto coordinate = [&](int side) -> double {
        if (kind == 0) return (draw.below(100 * (side + 20)) - 1000) / 100.0;
        if (kind == 1) return (draw.below(2 * (side + 20)) - 20) / 2.0;
        if (kind == 2) return draw.below(side + 20) - 10;
        return draw.fraction() * (side + 20) - 10;
    };
    std::vector<double> points;
    const int count = 3 + draw.below(8);
    for (int i = 0; i < count; ++i) {
        if (i > 0 && draw.one_in(8)) {
            points.insert(points.end(), {points.end()[-2], points.end()[-1]});
            continue;
        }
        points.push_back(coordinate(width));
        points.push_back(coordinate(height));
    }
    return points;
}

/// "x,y,x,y;x,y" as parts.
MaskPolygons read_parts(const std::string& text) {
    MaskPolygons parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ';');) {
        std::istringstream numbers(part);
        auto& points = parts.emplace_back();
        for (std::string number; std::getline(numbers, number, ',');)
            points.push_back(std::stod(number));
    }
    return parts;
}

TEST(PolygonFill, EdgeCasesAreThoseOfPycocotools) {
    const auto cases = golden_lines(polygon_cases, "polygon");
    ASSERT_GE(cases.size(), 20U);
    for (const auto& each : cases) {
        const int height = std::stoi(each.at(0)), width = std::stoi(each.at(1));
        EXPECT_EQ(run_length_text(fill_polygons(read_parts(each.at(2)), height, width)), each.at(3))
            << each.at(2);
    }
}

TEST(PolygonFill, DrawnPolygonsAreThoseOfPycocotools) {
    const auto cases = golden_lines(polygon_cases, "drawn_polygon");
    ASSERT_EQ(cases.size(), 500U);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        DrawnNumbers draw(1002, static_cast<std::uint32_t>(i));
        const int height = 1 + draw.below(60), width = 1 + draw.below(60);
        MaskPolygons parts(static_cast<std::size_t>(1 + (draw.one_in(4) ? draw.below(3) : 0)));
        for (auto& part : parts) part = drawn_polygon(draw, height, width);
        EXPECT_EQ(run_length_text(fill_polygons(parts, height, width)), cases[i].at(0)) << i;
    }
}

TEST(PolygonFill, TheExampleOfTheSpecification) {
    const RunLength mask =
        fill_polygon(std::vector<double>{10, 10, 30, 10, 30, 20, 10, 20}, 40, 40);
    EXPECT_EQ(mask_area(mask), 200);
    EXPECT_EQ(mask_box(mask), (std::array<double, 4>{10, 10, 20, 10}));
}

TEST(PolygonFill, CrossingsInPairsLeaveNothing) {
    // Eight million along the upper edge of a picture that the polygon fills.
    std::vector<double> points = {0, 0};
    for (int i = 0; i < 100'000; ++i) points.insert(points.end(), {40, 0, 0, 0});
    points.insert(points.end(), {40, 0, 40, 30, 0, 30});
    EXPECT_EQ(mask_area(fill_polygon(points, 30, 40)), 1200);
    const MaskPolygons parts(20'000, std::vector<double>{1, 1, 5, 1, 5, 5, 1, 5});
    EXPECT_EQ(mask_area(fill_polygons(parts, 30, 40)), 16);
}

TEST(PolygonFill, FarCoordinatesTakeNoLongerThanNearOnes) {
    constexpr double far = 1e300, infinite = std::numeric_limits<double>::infinity();
    for (const double place : {1e9, far, infinite}) {
        const std::vector<double> around = {-place, -place, place,  -place,
                                            place,  place,  -place, place};
        EXPECT_EQ(mask_area(fill_polygon(around, 30, 20)), 600) << place;
        EXPECT_EQ(
            mask_area(fill_polygon(std::vector<double>{place, 0, place, 5, place, 9}, 30, 20)), 0)
            << place;
    }
}

}  // namespace
}  // namespace engine
