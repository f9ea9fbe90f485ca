#include "io/coco/polygon_fill.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace engine {
namespace {

constexpr std::int64_t steps = 5;  // of an edge in a pixel

/// A vertex on the grid of steps; far ones are moved to where no picture is.
std::int64_t grid_place(double coordinate) {
    constexpr double farthest = 1 << 29;
    return static_cast<std::int64_t>(std::clamp(steps * coordinate + 0.5, -farthest, farthest));
}

struct GridPoint {
    std::int64_t x, y;
};

/// An edge that is walked along its longer axis from its smaller end.
class EdgeWalk {
public:
    EdgeWalk(GridPoint from, GridPoint to)
        : along_x_(std::abs(to.x - from.x) >= std::abs(to.y - from.y)) {
        if (along_x_ ? from.x > to.x : from.y > to.y) std::swap(from, to);
        start_ = from;
        length_ = along_x_ ? to.x - from.x : to.y - from.y;
        if (length_ > 0)
            slope_ = static_cast<double>(along_x_ ? to.y - from.y : to.x - from.x) /
                     static_cast<double>(length_);
    }

    std::int64_t length() const { return length_; }
    GridPoint at(std::int64_t step) const {
        return along_x_ ? GridPoint{start_.x + step, across(start_.y, step)}
                        : GridPoint{across(start_.x, step), start_.y + step};
    }
    /// The first step of [1, length] that has passed between `column` and column + 1; 0 if none
    /// has.
    std::int64_t crossing(std::int64_t column) const {
        const bool rises = at(length_).x > at(0).x;
        const auto passed = [&](std::int64_t step) {
            return rises ? at(step).x > column : at(step).x <= column;
        };
        if (passed(0) || !passed(length_)) return 0;
        if (along_x_) return column + 1 - start_.x;
        // x is monotonic in the step: begin where exact arithmetic crosses.
        const double guess = (static_cast<double>(column - start_.x) + 0.5) / slope_;
        std::int64_t step = std::clamp(static_cast<std::int64_t>(guess), std::int64_t{1}, length_);
        while (step > 1 && passed(step - 1)) --step;
        while (!passed(step)) ++step;
        return step;
    }

private:
    std::int64_t across(std::int64_t start, std::int64_t step) const {
        return static_cast<std::int64_t>(static_cast<double>(start) +
                                         slope_ * static_cast<double>(step) + 0.5);
    }

    bool along_x_;
    GridPoint start_{};
    std::int64_t length_ = 0;
    double slope_ = 0;
};

/// Adds the places where an edge crosses the middles of pixel columns.
void add_crossings(GridPoint from, GridPoint to, std::int32_t height, std::int32_t width,
                   std::vector<std::int64_t>& places) {
    const EdgeWalk edge(from, to);
    const auto [least, most] = std::minmax({edge.at(0).x, edge.at(edge.length()).x});
    const std::int64_t first = std::max<std::int64_t>(0, (least - steps / 2) / steps);
    const std::int64_t last = std::min<std::int64_t>(width - 1, most / steps);
    for (std::int64_t x = first; x <= last; ++x) {
        const std::int64_t step = edge.crossing(x * steps + steps / 2);
        if (step == 0) continue;
        const auto row = static_cast<double>(std::min(edge.at(step - 1).y, edge.at(step).y));
        const double y = std::ceil(std::clamp<double>((row + 0.5) / steps - 0.5, 0, height));
        places.push_back(x * height + static_cast<std::int64_t>(y));
    }
}

/// Sorts the places. Two equal ones turn the same pixels to ones and back, so they go: no more than
/// one for each pixel is left, however often a polygon crosses a column.
void cancel_pairs(std::vector<std::int64_t>& places) {
    std::sort(places.begin(), places.end());
    std::size_t kept = 0;
    for (const std::int64_t place : places) {
        if (kept > 0 && places[kept - 1] == place)
            --kept;
        else
            places[kept++] = place;
    }
    places.resize(kept);
}

}  // namespace

RunLength fill_polygon(std::span<const double> points, std::int32_t height, std::int32_t width) {
    std::vector<std::int64_t> places;
    const std::size_t count = points.size() / 2;
    const auto vertex = [&](std::size_t i) {
        return GridPoint{grid_place(points[2 * i]), grid_place(points[2 * i + 1])};
    };
    std::size_t most = std::size_t{1} << 20;
    for (std::size_t i = 0; i < count; ++i) {
        add_crossings(vertex(i), vertex((i + 1) % count), height, width, places);
        if (places.size() < most) continue;
        cancel_pairs(places);
        most = std::max(most, 2 * places.size());
    }
    // Each place turns zeros to ones or back, to the end of the picture.
    cancel_pairs(places);
    RunWriter out(height, width);
    for (std::size_t i = 0; i < places.size(); i += 2)
        out.add(places[i], i + 1 < places.size() ? places[i + 1] : std::int64_t{height} * width);
    return out.finish();
}

RunLength fill_polygons(const MaskPolygons& parts, std::int32_t height, std::int32_t width) {
    if (parts.empty()) return RunWriter(height, width).finish();
    std::vector<RunLength> masks;
    masks.reserve(parts.size());
    for (const auto& part : parts) masks.push_back(fill_polygon(part, height, width));
    return unite(masks);
}

}  // namespace engine
