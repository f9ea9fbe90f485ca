#include "io/coco/coco_masks.h"

#include <algorithm>
#include <string>
#include <vector>

namespace engine {

/// Polygons in blocks of a mebibyte, so that growing never holds two copies of all.
struct CocoMasks::Blocks {
    static constexpr std::size_t block = std::size_t{1} << 17;  // doubles
    struct Text {
        std::uint32_t block, at, size;
    };
    struct Part {
        const double* points;
        std::uint32_t size;
    };
    std::vector<std::vector<double>> points{};
    std::vector<Part> parts{};
    std::vector<std::string> texts{};
    std::vector<Text> text_places{};

    const double* keep(std::span<const double> added) {
        if (points.empty() || points.back().capacity() - points.back().size() < added.size()) {
            const std::size_t numbers = points.empty() ? block / 128 : block;
            points.emplace_back().reserve(std::max(added.size(), numbers));
        }
        auto& last = points.back();
        last.insert(last.end(), added.begin(), added.end());
        return last.data() + last.size() - added.size();
    }
};

CocoMasks::CocoMasks() : blocks_(std::make_unique<Blocks>()) {}
CocoMasks::~CocoMasks() = default;
CocoMasks::CocoMasks(CocoMasks&&) noexcept = default;
CocoMasks& CocoMasks::operator=(CocoMasks&&) noexcept = default;

CocoMasks::Place CocoMasks::add_polygons(std::span<const double> points,
                                         std::span<const std::uint32_t> sizes) {
    const Place place{.first = static_cast<std::uint32_t>(blocks_->parts.size()),
                      .count = static_cast<std::uint32_t>(sizes.size()),
                      .kind = Kind::polygons};
    for (const std::uint32_t size : sizes) {
        blocks_->parts.push_back({blocks_->keep(points.first(size)), size});
        points = points.subspan(size);
    }
    return place;
}

CocoMasks::Place CocoMasks::add_runs(std::string_view text) {
    auto& texts = blocks_->texts;
    constexpr std::size_t block = std::size_t{1} << 20;
    if (texts.empty() || texts.back().size() + text.size() > block) texts.emplace_back();
    blocks_->text_places.push_back({static_cast<std::uint32_t>(texts.size() - 1),
                                    static_cast<std::uint32_t>(texts.back().size()),
                                    static_cast<std::uint32_t>(text.size())});
    texts.back() += text;
    return {.first = static_cast<std::uint32_t>(blocks_->text_places.size() - 1),
            .count = 1,
            .kind = Kind::runs};
}

MaskPolygons CocoMasks::polygons(const Place& place) const {
    MaskPolygons parts;
    for (const auto& part : std::span(blocks_->parts).subspan(place.first, place.count))
        parts.emplace_back(part.points, part.points + part.size);
    return parts;
}

std::string_view CocoMasks::text(const Place& place) const {
    const auto& [block, at, size] = blocks_->text_places[place.first];
    return std::string_view(blocks_->texts[block]).substr(at, size);
}

}  // namespace engine
