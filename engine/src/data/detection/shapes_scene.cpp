#include "data/detection/shapes_scene.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

namespace engine {
namespace {

// Coordinates are in sixteenths of a pixel; a pixel's centre is 8 behind its edge.
constexpr std::int64_t unit = 16, centre = 8;
constexpr int tries = 10;
constexpr std::int64_t least_contrast = 90, noise = 14, least_visible = 35;
constexpr std::uint64_t scene_noise_block = std::uint64_t{1} << 16;  // behind all drawn numbers
/// round(4096 cos(2 pi k / 32)) of the first quarter.
constexpr std::array<std::int64_t, 9> quarter{4096, 4017, 3784, 3406, 2896, 2276, 1567, 799, 0};

std::int64_t cosine(std::int64_t direction) {
    const std::int64_t k = direction % 32;
    const std::int64_t half = k <= 16 ? k : 32 - k;
    return half <= 8 ? quarter[static_cast<std::size_t>(half)]
                     : -quarter[static_cast<std::size_t>(16 - half)];
}

struct Point {
    std::int64_t x, y;
};

Point turned(const Point& p, std::int64_t direction) {
    const std::int64_t c = cosine(direction), s = cosine(direction + 24);
    return {(p.x * c - p.y * s + 2048) >> 12, (p.x * s + p.y * c + 2048) >> 12};
}

using Color = std::array<std::int64_t, 3>;

/// Whole numbers of a stream, one after the other.
class SceneDraws {
public:
    explicit SceneDraws(const RandomStream& random) : random_(random) {}
    std::int64_t below(std::int64_t bound) {
        return random_.bounded(next_++, static_cast<std::uint32_t>(bound));
    }
    Color color() {
        Color out{};
        for (std::int64_t& channel : out) channel = below(256);
        return out;
    }

private:
    const RandomStream& random_;
    std::uint64_t next_ = 0;
};

struct DrawnShape {
    std::int64_t kind, half;  // half size
    Point at;
    std::vector<Point> corners;
    Color color;

    /// A pixel's centre, from the shape's middle.
    bool holds(const Point& p) const {
        if (kind == 1) return 20 * (p.x * p.x + p.y * p.y) <= 17 * half * half;
        bool left = true, right = true;
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const Point &a = corners[i], &b = corners[(i + 1) % corners.size()];
            const std::int64_t side = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
            left = left && side >= 0;
            right = right && side <= 0;
        }
        return left || right;
    }
};

DrawnShape draw_shape(SceneDraws& draws, std::int64_t side, const Color& background) {
    DrawnShape out{};
    out.kind = draws.below(3);
    const std::int64_t direction = draws.below(32);
    const std::int64_t least = unit * side * 9 / 100, most = unit * side * 25 / 100;
    out.half = least + draws.below(most - least + 1);
    const std::int64_t margin = out.half * 3 / 5;
    out.at.x = margin + draws.below(unit * side - 2 * margin + 1);
    out.at.y = margin + draws.below(unit * side - 2 * margin + 1);
    const std::int64_t edge = out.half * 4 / 5, high = out.half * 887 / 1024, low = -out.half / 2;
    if (out.kind == 0) out.corners = {{-edge, -edge}, {edge, -edge}, {edge, edge}, {-edge, edge}};
    if (out.kind == 2) out.corners = {{out.half, 0}, {low, high}, {low, -high}};
    for (Point& corner : out.corners) corner = turned(corner, direction);
    std::int64_t contrast = 0;
    while (contrast < least_contrast) {
        out.color = draws.color();
        contrast = 0;
        for (std::size_t c = 0; c < 3; ++c) contrast += std::abs(out.color[c] - background[c]);
    }
    return out;
}

/// Which shape is on top at each pixel: 0 none, else its number from 1.
class Layers {
public:
    explicit Layers(std::int64_t side)
        : side_(side), top_(static_cast<std::size_t>(side * side)) {}

    /// False, and nothing is changed, if an earlier shape would have too little left.
    bool add(const DrawnShape& shape) {
        std::vector<std::size_t> pixels;
        std::vector<std::int64_t> left = visible_;
        const std::int64_t reach = shape.half * 6 / 5;
        const auto line = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at / unit, 0, side_);
        };
        const std::int64_t right = line(shape.at.x + reach + unit);
        const std::int64_t bottom = line(shape.at.y + reach + unit);
        for (std::int64_t y = line(shape.at.y - reach); y < bottom; ++y) {
            for (std::int64_t x = line(shape.at.x - reach); x < right; ++x) {
                const Point p{unit * x + centre - shape.at.x, unit * y + centre - shape.at.y};
                if (!shape.holds(p)) continue;
                pixels.push_back(static_cast<std::size_t>(y * side_ + x));
                if (const std::size_t under = top_[pixels.back()]; under > 0) --left[under - 1];
            }
        }
        for (std::size_t i = 0; i < left.size(); ++i)
            if (100 * left[i] < least_visible * whole_[i]) return false;
        visible_ = std::move(left);
        visible_.push_back(std::ssize(pixels));
        whole_.push_back(std::ssize(pixels));
        for (const std::size_t pixel : pixels) top_[pixel] = visible_.size();
        return true;
    }
    const std::vector<std::size_t>& top() const { return top_; }

private:
    std::int64_t side_;
    std::vector<std::size_t> top_;
    std::vector<std::int64_t> visible_, whole_;  // pixels of each shape
};

DetectionTruth::Annotation annotate(const std::vector<std::size_t>& top, std::size_t number,
                                    std::int64_t kind, std::int64_t side) {
    std::vector<std::uint8_t> bitmap(top.size());
    for (std::size_t i = 0; i < top.size(); ++i) bitmap[i] = top[i] == number ? 1 : 0;
    const auto lines = static_cast<std::int32_t>(side);
    RunLength runs = encode_bitmap(bitmap, lines, lines);
    DetectionTruth::Annotation out;
    out.label = static_cast<std::int32_t>(kind + 1);
    out.box = mask_box(runs);
    out.area = static_cast<double>(mask_area(runs));
    // The box of runs is as high as the picture where one goes on in the next column.
    std::int64_t first = side, end = 0;
    for (std::int64_t y = 0; y < side; ++y) {
        const auto row = bitmap.begin() + y * side;
        if (std::find(row, row + side, std::uint8_t{1}) == row + side) continue;
        first = std::min(first, y);
        end = y + 1;
    }
    out.box[1] = static_cast<double>(first);
    out.box[3] = static_cast<double>(end - first);
    out.mask = std::move(runs);
    return out;
}

}  // namespace

ShapesScene draw_shapes(const RandomStream& random, std::int64_t side, std::int64_t most_shapes) {
    SceneDraws draws(random);
    const Color background = draws.color();
    const std::int64_t wanted = 1 + draws.below(most_shapes);
    Layers layers(side);
    std::vector<DrawnShape> shapes;
    for (std::int64_t i = 0; i < wanted; ++i) {
        for (int t = 0; t < tries; ++t) {
            DrawnShape shape = draw_shape(draws, side, background);
            if (!layers.add(shape)) continue;
            shapes.push_back(std::move(shape));
            break;
        }
    }
    ShapesScene out;
    const auto lines = static_cast<std::int32_t>(side);
    out.picture = {lines, lines, std::vector<std::uint8_t>(layers.top().size() * 3)};
    for (std::size_t pixel = 0; pixel < layers.top().size(); ++pixel) {
        const std::size_t on_top = layers.top()[pixel];
        const Color& color = on_top == 0 ? background : shapes[on_top - 1].color;
        for (std::size_t c = 0; c < 3; ++c)
            out.picture.rgb[pixel * 3 + c] = static_cast<std::uint8_t>(color[c]);
    }
    for (std::size_t i = 0; i < out.picture.rgb.size(); i += 16) {
        const PhiloxBlock words = random.block(scene_noise_block + i / 16);
        for (std::size_t k = 0; k < 16; ++k) {
            const std::int64_t byte = words[k / 4] >> (k % 4 * 8) & 0xFF;
            std::uint8_t& value = out.picture.rgb[i + k];
            const std::int64_t moved = value + byte * (2 * noise + 1) / 256 - noise;
            value = static_cast<std::uint8_t>(std::clamp<std::int64_t>(moved, 0, 255));
        }
    }
    out.truth.height = out.truth.width = lines;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        out.truth.annotations.push_back(annotate(layers.top(), i + 1, shapes[i].kind, side));
    return out;
}

}  // namespace engine
