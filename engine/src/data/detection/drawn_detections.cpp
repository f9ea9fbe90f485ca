#include "data/detection/drawn_detections.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/data/class_colours.h"

namespace engine {
namespace {

using Colour = std::array<std::uint8_t, 3>;

constexpr double fill_share = 0.35;
constexpr std::int64_t line_width = 2;

class DetectionPainter {
public:
    DetectionPainter(Picture& picture, const Colour& colour) : picture_(picture), colour_(colour) {}

    void fill(const RunLength& mask) {
        if (mask.height != picture_.height || mask.width != picture_.width) return;
        std::int64_t place = 0;
        for (std::size_t i = 0; i < mask.counts.size(); ++i) {
            const std::int64_t end = place + mask.counts[i];
            for (; i % 2 == 1 && place < end; ++place)
                blend(place / mask.height, place % mask.height, fill_share);
            place = end;
        }
    }
    void outline(const std::array<double, 4>& box) {
        const auto pixel = [](double place, int limit) {
            return static_cast<std::int64_t>(
                std::lround(std::clamp(place, 0.0, static_cast<double>(limit))));
        };
        const std::int64_t left = pixel(box[0], picture_.width), top = pixel(box[1], picture_.height);
        const std::int64_t right = pixel(box[0] + box[2], picture_.width);
        const std::int64_t bottom = pixel(box[1] + box[3], picture_.height);
        for (std::int64_t y = top; y < bottom; ++y) {
            for (std::int64_t x = left; x < right; ++x) {
                const bool inside = std::min({x - left, right - 1 - x, y - top, bottom - 1 - y}) >=
                                    line_width;
                if (inside) {
                    x = right - line_width - 1;  // to the other side of the box
                } else {
                    blend(x, y, 1);
                }
            }
        }
    }

private:
    void blend(std::int64_t x, std::int64_t y, double share) {
        auto* pixel = &picture_.rgb[static_cast<std::size_t>(3 * (y * picture_.width + x))];
        for (std::size_t c = 0; c < 3; ++c)
            pixel[c] = static_cast<std::uint8_t>(
                std::lround(pixel[c] + share * (static_cast<double>(colour_[c]) - pixel[c])));
    }

    Picture& picture_;
    Colour colour_;
};

}  // namespace

void draw_detections(Picture& picture, std::span<const Detection> found) {
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return found[a].box[2] * found[a].box[3] > found[b].box[2] * found[b].box[3];
    });
    for (const std::size_t i : order) {
        DetectionPainter painter(picture, class_colour(found[i].label));
        painter.fill(found[i].mask);
        painter.outline(found[i].box);
    }
}

}  // namespace engine
