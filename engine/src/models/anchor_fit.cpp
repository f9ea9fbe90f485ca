#include "models/anchor_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/detection/anchors.h"

namespace engine {
namespace {

using Corners = std::array<float, 4>;

constexpr std::size_t maps = 5;  // of a feature pyramid

double overlap_of(const Corners& a, const Corners& b) {
    const auto area = [](const Corners& box) {
        return double{box[2] - box[0]} * double{box[3] - box[1]};
    };
    const double width = double{std::min(a[2], b[2])} - double{std::max(a[0], b[0])},
                 height = double{std::min(a[3], b[3])} - double{std::max(a[1], b[1])};
    if (width <= 0 || height <= 0) return 0;
    return width * height / (area(a) + area(b) - width * height);
}

/// Cells of each map along a side of the canvas, a multiple of 32: strides 4 to 32, and the last
/// map has every second cell of the one before.
std::int64_t cells_along(std::int64_t side, std::size_t map) {
    const auto last = static_cast<std::int64_t>(maps) - 1;
    if (static_cast<std::int64_t>(map) == last) return (side / 32 + 1) / 2;
    return side / (std::int64_t{4} << map);
}

/// The place of the grid that is nearest to a coordinate. Of anchors of one shape the nearest
/// overlaps most, along each axis by itself.
float nearest_place(float at, std::int64_t side, std::size_t map) {
    const std::int64_t cells = std::max<std::int64_t>(cells_along(side, map), 1);
    const auto stride = static_cast<float>(side / cells);
    return stride * std::clamp(std::round(at / stride), 0.0F, static_cast<float>(cells - 1));
}

double best_overlap(const BoxPreview& box, const std::vector<std::int64_t>& sizes) {
    const Corners& is = box.corners;
    double best = 0;
    for (std::size_t map = 0; map < std::min(sizes.size(), maps); ++map) {
        const float y = nearest_place((is[1] + is[3]) / 2, box.canvas[0], map),
                    x = nearest_place((is[0] + is[2]) / 2, box.canvas[1], map);
        for (const Corners& cell : anchor_cells(static_cast<float>(sizes[map])))
            best = std::max(
                best, overlap_of(is, {x + cell[0], y + cell[1], x + cell[2], y + cell[3]}));
    }
    return best;
}

}  // namespace

double share_without_anchor(std::span<const BoxPreview> boxes,
                            const std::vector<std::int64_t>& sizes) {
    constexpr double least_overlap = 0.3;
    if (boxes.empty()) return 0;
    const auto missed = std::ranges::count_if(boxes, [&](const BoxPreview& each) {
        return best_overlap(each, sizes) < least_overlap;
    });
    return static_cast<double>(missed) / static_cast<double>(boxes.size());
}

std::vector<std::int64_t> fitting_anchor_sizes(std::span<const BoxPreview> boxes) {
    std::vector<std::int64_t> best;
    double least = 2;
    for (const std::int64_t first : {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}) {
        std::vector<std::int64_t> sizes;
        for (std::size_t map = 0; map < maps; ++map) sizes.push_back(first << map);
        const double share = share_without_anchor(boxes, sizes);
        if (share >= least) continue;
        least = share;
        best = std::move(sizes);
    }
    return best;
}

}  // namespace engine
