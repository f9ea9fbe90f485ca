#include "data/detection/detection_truth.h"

namespace engine {

std::optional<MaskPolygons> mask_polygons(const DetectionTruth::Mask& mask) {
    if (const auto* packed = std::get_if<DetectionTruth::PackedPolygons>(&mask))
        return packed->masks->polygons(packed->place);
    if (const auto* polygons = std::get_if<MaskPolygons>(&mask)) return *polygons;
    return {};
}

RunLength mask_runs(const DetectionTruth::Mask& mask, std::int32_t height, std::int32_t width) {
    if (const auto* runs = std::get_if<RunLength>(&mask)) return *runs;
    if (const auto polygons = mask_polygons(mask)) return fill_polygons(*polygons, height, width);
    return RunWriter(height, width).finish();
}

double measured_area(const DetectionTruth::Annotation& annotation, std::int32_t height,
                     std::int32_t width) {
    if (std::holds_alternative<std::monostate>(annotation.mask))
        return annotation.box[2] * annotation.box[3];
    return static_cast<double>(mask_area(mask_runs(annotation.mask, height, width)));
}

}  // namespace engine
