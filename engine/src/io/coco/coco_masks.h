#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "io/coco/polygon_fill.h"

namespace engine {

/// The masks of a file, packed: polygons as doubles, runs as compressed text.
class CocoMasks {
public:
    CocoMasks();
    ~CocoMasks();
    CocoMasks(CocoMasks&&) noexcept;
    CocoMasks& operator=(CocoMasks&&) noexcept;

    enum class Kind : std::uint8_t { none, polygons, runs };
    /// Where a mask lies.
    struct Place {
        std::uint32_t first = 0, count = 0;  ///< polygons: parts
        Kind kind = Kind::none;
    };

    Place add_polygons(std::span<const double> points, std::span<const std::uint32_t> sizes);
    Place add_runs(std::string_view text);
    MaskPolygons polygons(const Place& place) const;
    std::string_view text(const Place& place) const;

private:
    struct Blocks;
    std::unique_ptr<Blocks> blocks_;
};

}  // namespace engine
