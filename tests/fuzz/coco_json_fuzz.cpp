#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/base/error.h"
#include "io/coco/coco_reader.h"

// Any bytes are refused with Error(data) as a COCO file, or each of its masks can be had; small
// polygons are filled.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::span<const std::uint8_t> left(data, size);
    const auto source = [&](std::span<std::uint8_t> out) {
        const std::size_t count = std::min(out.size(), left.size());
        std::memcpy(out.data(), left.data(), count);
        left = left.subspan(count);
        return count;
    };
    try {
        const engine::CocoFile file = engine::read_coco("fuzz", source);
        for (const auto& each : file.annotations) {
            const auto mask = file.mask(each);
            const auto& image = file.images.at(static_cast<std::size_t>(each.image));
            file.categories.at(static_cast<std::size_t>(each.category));
            const auto* parts = std::get_if<engine::MaskPolygons>(&mask);
            if (parts != nullptr && image.width <= 4096 && image.height <= 4096)
                engine::mask_box(engine::fill_polygons(*parts, image.height, image.width));
        }
    } catch (const engine::Error&) {
    }
    return 0;
}
