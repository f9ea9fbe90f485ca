#include "data/image/glyph_dataset.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>

namespace engine {
namespace {

using Stroke = std::vector<GlyphPoint>;

/// Part of an ellipse around (cx, cy); degrees run clockwise on the page, 0 to the right, -90 up.
struct Arc {
    float cx, cy, rx, ry, from, to;
};

/// 15 degrees a piece: under a tenth of a pixel off the curve at the size that glyphs are drawn.
Stroke flatten(const Arc& arc) {
    const int pieces = std::max(1, static_cast<int>(std::ceil(std::abs(arc.to - arc.from) / 15)));
    Stroke points;
    for (int i = 0; i <= pieces; ++i) {
        const float share = static_cast<float>(i) / static_cast<float>(pieces);
        const float angle =
            (arc.from + (arc.to - arc.from) * share) * std::numbers::pi_v<float> / 180;
        points.push_back({arc.cx + arc.rx * std::cos(angle), arc.cy + arc.ry * std::sin(angle)});
    }
    return points;
}

/// One stroke out of lines and arcs drawn without lifting the pen.
Stroke connect(std::initializer_list<Stroke> parts) {
    Stroke whole;
    for (const auto& part : parts) whole.insert(whole.end(), part.begin(), part.end());
    return whole;
}

std::vector<GlyphShape> digits() {
    const Arc two{.5F, .28F, .42F, .28F, -170, 25};
    const Arc three_top{.45F, .26F, .42F, .26F, -160, 90};
    const Arc three_bottom{.45F, .75F, .48F, .25F, -90, 160};
    const Arc five{.45F, .67F, .47F, .33F, -130, 150};
    const Arc six_back{.92F, .7F, .84F, .7F, 260, 180};
    const Arc six_loop{.5F, .7F, .42F, .3F, 180, 540};
    const Arc nine_back{.08F, .3F, .84F, .7F, 80, 0};
    const Arc nine_loop{.5F, .3F, .42F, .3F, 0, 360};
    return {
        {"0", {flatten({.5F, .5F, .42F, .5F, 0, 360})}},
        {"1", {{{.22F, .22F}, {.55F, 0}, {.55F, 1}}}},
        {"2", {connect({flatten(two), {{.08F, 1}, {.95F, 1}}})}},
        {"3", {connect({flatten(three_top), flatten(three_bottom)})}},
        {"4", {{{.7F, 1}, {.7F, 0}, {.05F, .68F}, {.97F, .68F}}}},
        {"5", {connect({{{.88F, 0}, {.2F, 0}, {.15F, .42F}}, flatten(five)})}},
        {"6", {connect({flatten(six_back), flatten(six_loop)})}},
        {"7", {{{.05F, 0}, {.95F, 0}, {.4F, 1}}}},
        {"8",
         {flatten({.5F, .26F, .36F, .26F, 90, 450}), flatten({.5F, .76F, .44F, .24F, 0, 360})}},
        {"9", {connect({flatten(nine_back), flatten(nine_loop)})}},
    };
}

std::vector<GlyphShape> letters() {
    return {
        {"A", {{{0, 1}, {.5F, 0}, {1, 1}}, {{.2F, .62F}, {.8F, .62F}}}},
        {"C", {flatten({.54F, .5F, .47F, .5F, -50, -310})}},
        {"E", {{{.9F, 0}, {.1F, 0}, {.1F, 1}, {.9F, 1}}, {{.1F, .48F}, {.75F, .48F}}}},
        {"F", {{{.9F, 0}, {.1F, 0}, {.1F, 1}}, {{.1F, .48F}, {.75F, .48F}}}},
        {"H", {{{.08F, 0}, {.08F, 1}}, {{.92F, 0}, {.92F, 1}}, {{.08F, .5F}, {.92F, .5F}}}},
        {"K", {{{.1F, 0}, {.1F, 1}}, {{.9F, 0}, {.1F, .58F}}, {{.36F, .4F}, {.95F, 1}}}},
        {"L", {{{.12F, 0}, {.12F, 1}, {.9F, 1}}}},
        {"P",
         {connect(
             {{{.1F, 1}, {.1F, 0}}, flatten({.48F, .27F, .44F, .27F, -90, 90}), {{.1F, .54F}}})}},
        {"T", {{{0, 0}, {1, 0}}, {{.5F, 0}, {.5F, 1}}}},
        {"X", {{{.03F, 0}, {.97F, 1}}, {{.97F, 0}, {.03F, 1}}}},
    };
}

std::vector<GlyphShape> all_shapes() {
    std::vector<GlyphShape> shapes = digits();
    for (auto& letter : letters()) shapes.push_back(std::move(letter));
    return shapes;
}

}  // namespace

std::span<const GlyphShape> glyph_shapes() {
    static const std::vector<GlyphShape> shapes = all_shapes();
    return shapes;
}

}  // namespace engine
