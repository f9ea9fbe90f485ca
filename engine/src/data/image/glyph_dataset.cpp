#include "data/image/glyph_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "data/dataset_descriptor.h"
#include "data/image/image_transforms.h"

namespace engine {
namespace {

constexpr int side = GlyphDataset::side;
constexpr float middle = side / 2.0F;
constexpr std::size_t pixel_count = std::size_t{side} * side;

/// Numbers for one image, consumed in order, so that adding a property does not require renumbering
/// the others.
class Draws {
public:
    explicit Draws(const RandomStream& random) : random_(random) {}
    float between(float low, float high) { return low + (high - low) * random_.uniform(next_++); }

private:
    const RandomStream& random_;
    std::uint64_t next_ = 0;
};

// The bytes of the noise start here, past all that Draws takes.
constexpr std::uint64_t noise_block = 16;

/// Places the unit square's points on the page: bent, scaled, sheared, turned, shifted.
class Placement {
public:
    explicit Placement(Draws& draws)
        : bend_x_(draws.between(-.07F, .07F)),
          bend_y_(draws.between(-.07F, .07F)),
          phase_x_(draws.between(0, 2 * std::numbers::pi_v<float>)),
          phase_y_(draws.between(0, 2 * std::numbers::pi_v<float>)) {
        const float angle = draws.between(-.30F, .30F);
        const float shear = draws.between(-.25F, .25F);
        const float width = draws.between(9.0F, 15.0F);
        const float height = draws.between(13.0F, 19.0F);
        const float cosine = std::cos(angle);
        const float sine = std::sin(angle);
        xx_ = cosine * width;
        xy_ = (cosine * shear - sine) * height;
        yx_ = sine * width;
        yy_ = (sine * shear + cosine) * height;
        centre_x_ = draws.between(middle - 3, middle + 3);
        centre_y_ = draws.between(middle - 3, middle + 3);
    }

    GlyphPoint operator()(GlyphPoint point) const {
        const float u = point.x - .5F + bend_x_ * std::sin(4 * point.y + phase_x_);
        const float v = point.y - .5F + bend_y_ * std::sin(4 * point.x + phase_y_);
        return {centre_x_ + xx_ * u + xy_ * v, centre_y_ + yx_ * u + yy_ * v};
    }

private:
    float bend_x_, bend_y_, phase_x_, phase_y_;
    float xx_, xy_, yx_, yy_;
    float centre_x_, centre_y_;
};

/// Squared distance of every pixel's centre to the nearest line drawn so far.
class DistanceField {
public:
    DistanceField() { squared_.fill(1e6F); }

    /// Pixels further than `reach` from the line may be left as they are.
    void add_line(GlyphPoint from, GlyphPoint to, float reach) {
        const auto [left, right] = pixel_range(from.x, to.x, reach);
        const auto [top, bottom] = pixel_range(from.y, to.y, reach);
        const float dx = to.x - from.x;
        const float dy = to.y - from.y;
        const float scale = 1 / std::max(dx * dx + dy * dy, 1e-6F);
        for (int y = top; y <= bottom; ++y) {
            const float py = static_cast<float>(y) + .5F - from.y;
            for (int x = left; x <= right; ++x) {
                const float px = static_cast<float>(x) + .5F - from.x;
                const float along = std::clamp((px * dx + py * dy) * scale, 0.0F, 1.0F);
                const float ex = px - along * dx;
                const float ey = py - along * dy;
                float& nearest =
                    squared_[static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x)];
                nearest = std::min(nearest, ex * ex + ey * ey);
            }
        }
    }

    /// Share of the pixel under a pen of this radius, with an edge one pixel wide.
    float coverage(std::size_t pixel, float radius) const {
        return std::clamp(radius + .5F - std::sqrt(squared_[pixel]), 0.0F, 1.0F);
    }

private:
    static std::pair<int, int> pixel_range(float a, float b, float reach) {
        const float low = std::clamp(std::floor(std::min(a, b) - reach), 0.0F, float{side});
        const float high = std::clamp(std::ceil(std::max(a, b) + reach), -1.0F, float{side - 1});
        return {static_cast<int>(low), static_cast<int>(high)};
    }

    std::array<float, pixel_count> squared_;
};

/// Normal deviates at the middles of 256 equally likely parts, by bisection of the distribution
/// function.
std::array<float, 256> normal_quantiles() {
    std::array<float, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double share = (static_cast<double>(i) + .5) / 256;
        double low = -4;
        double high = 4;
        for (int step = 0; step < 50; ++step) {
            const double between = (low + high) / 2;
            const bool below = .5 * std::erfc(-between / std::numbers::sqrt2) < share;
            (below ? low : high) = between;
        }
        table[i] = static_cast<float>(low);
    }
    return table;
}

/// Noise of deviation `sigma` over the page: a byte of the stream a pixel.
void add_noise(std::span<float, pixel_count> page, float sigma, const RandomStream& random) {
    static const std::array<float, 256> quantiles = normal_quantiles();
    for (std::size_t i = 0; i < pixel_count; i += 16) {
        const PhiloxBlock words = random.block(noise_block + i / 16);
        for (std::size_t k = 0; k < 16; ++k) {
            const std::uint32_t byte = words[k / 4] >> (k % 4 * 8) & 0xFF;
            page[i + k] += sigma * quantiles[byte];
        }
    }
}

}  // namespace

void draw_glyph(std::span<std::uint8_t> pixels, std::int64_t label, const RandomStream& random) {
    Draws draws(random);
    const Placement place(draws);
    const float radius = draws.between(.6F, 1.5F);
    const float ink = draws.between(.55F, 1.0F);
    const float sigma = draws.between(.04F, .22F);
    const float paper = draws.between(0, .15F);
    const float reach = radius + .5F;

    DistanceField glyph;
    for (const auto& stroke : glyph_shapes()[static_cast<std::size_t>(label)].strokes) {
        GlyphPoint from = place(stroke.front());
        for (const auto& point : stroke) {
            const GlyphPoint to = place(point);
            glyph.add_line(from, to, reach);
            from = to;
        }
    }
    // A stray stroke on every third image, thinner and fainter than the glyph's own.
    DistanceField stray;
    const bool strays = draws.between(0, 3) < 1;
    if (strays) {
        const GlyphPoint from{draws.between(0, side), draws.between(0, side)};
        const GlyphPoint to{from.x + draws.between(-9, 9), from.y + draws.between(-9, 9)};
        stray.add_line(from, to, 1.2F);
    }

    std::array<float, pixel_count> page;
    for (std::size_t i = 0; i < pixel_count; ++i) {
        const float own = ink * glyph.coverage(i, radius);
        page[i] = paper + (strays ? std::max(own, .6F * ink * stray.coverage(i, .7F)) : own);
    }
    add_noise(page, sigma, random);
    for (std::size_t i = 0; i < pixel_count; ++i) {
        pixels[i] = static_cast<std::uint8_t>(std::clamp(page[i], 0.0F, 1.0F) * 255 + .5F);
    }
}

Schema glyph_schema() {
    std::vector<std::string> names;
    for (const auto& shape : glyph_shapes()) names.push_back(shape.name);
    // Mean and deviation of the distribution, from 100,000 images: no image has to be drawn to know
    // them.
    return classified_images({1, side, side}, {.mean = {0.1781F}, .deviation = {0.2337F}},
                             std::move(names));
}

GlyphDataset::GlyphDataset(std::int64_t seed, StreamId stream, std::int64_t size)
    : schema_(glyph_schema()),
      classes_(schema_["label"].cardinality),
      seed_(seed),
      stream_(stream),
      size_(size),
      pixels_(static_cast<std::size_t>(size) * pixel_count),
      slots_(static_cast<std::size_t>(size)) {}

void GlyphDataset::read(std::int64_t index, const SampleFields& out) const {
    if (const auto label = out.i64(1); !label.empty()) label[0] = index % classes_;
    const std::span<float> image = out.f32(0);
    if (image.empty()) return;
    auto& slot = slots_[static_cast<std::size_t>(index)];
    std::uint8_t* pixels = pixels_.data() + static_cast<std::size_t>(index) * pixel_count;
    std::array<std::uint8_t, pixel_count> own;
    if (slot.load(std::memory_order_acquire) != Slot::ready) {
        const RandomStream random(seed_, stream_, static_cast<std::uint32_t>(index));
        draw_glyph(own, index % classes_, random);
        Slot expected = Slot::empty;
        if (slot.compare_exchange_strong(expected, Slot::drawing)) {
            std::copy(own.begin(), own.end(), pixels);
            slot.store(Slot::ready, std::memory_order_release);
        }
        pixels = own.data();
    }
    for (std::size_t i = 0; i < pixel_count; ++i) image[i] = static_cast<float>(pixels[i]) / 255;
}

DatasetDescriptor glyphs_descriptor() {
    return {
        .kind = "glyphs",
        .title = "Glyphs",
        .summary = "Drawn digits and letters with noise, made from the seed; nothing to download.",
        .unit = "images",
        .options = image_options(1),
        .schema = [](const DatasetConfig&) { return glyph_schema(); },
        .open =
            [](const DatasetConfig& config, std::int64_t seed, const std::stop_token&) {
                return generate<GlyphDataset>(config, seed, StreamId::glyphs_train,
                                              StreamId::glyphs_test);
            }};
}

}  // namespace engine
