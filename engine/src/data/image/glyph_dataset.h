#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "tensor/philox.h"

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

/// Drawn digits and letters, 28 x 28 grey: turned, sheared, bent, scaled and shifted strokes of
/// varying thickness and ink, a stray stroke on some, and noise over all. Sample i is of class i %
/// the number of classes and a pure function of (seed, stream, i): it is drawn when first read and
/// kept as bytes.
class GlyphDataset final : public Dataset {
public:
    static constexpr std::int64_t train_size = 10000;
    static constexpr std::int64_t test_size = 2000;
    static constexpr int side = 28;

    /// `stream` is glyphs_train or glyphs_test.
    GlyphDataset(std::int64_t seed, StreamId stream, std::int64_t size);

    std::int64_t size() const override { return size_; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;

private:
    Schema schema_;
    std::int64_t classes_;
    enum class Slot : std::uint8_t { empty, drawing, ready };

    std::int64_t seed_;
    StreamId stream_;
    std::int64_t size_;
    // Drawn samples. A slot's pixels are written by the one thread that moved it from empty to
    // drawing and read by others only once it is ready.
    mutable std::vector<std::uint8_t> pixels_;
    mutable std::vector<std::atomic<Slot>> slots_;
};

/// Images (1, side, side) and their classes.
Schema glyph_schema();

/// Draws one glyph of class `label` into side * side bytes, 0 black to 255 white, row by row.
void draw_glyph(std::span<std::uint8_t> pixels, std::int64_t label, const RandomStream& random);

}  // namespace engine
