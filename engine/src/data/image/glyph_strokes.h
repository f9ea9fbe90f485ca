#pragma once

#include <span>
#include <string>
#include <vector>

namespace engine {

struct GlyphPoint {
    float x;
    float y;
};

/// A digit or letter as its strokes: polylines in the unit square, x to the right, y down.
struct GlyphShape {
    std::string name;
    std::vector<std::vector<GlyphPoint>> strokes;
};

/// The classes of the glyphs data set, in the order of their labels: the ten digits, then letters
/// that no digit and no other letter looks like (no B, D, G, I, O, Q, S, Z).
std::span<const GlyphShape> glyph_shapes();

}  // namespace engine
