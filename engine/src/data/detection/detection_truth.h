#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/coco/coco_masks.h"
#include "io/coco/polygon_fill.h"
#include "io/coco/run_length.h"

namespace engine {

/// The id of a picture in its file; 1, 2, ... in data without ids.
using ImageId = std::variant<std::int64_t, std::string>;

/// The objects of one picture, in pixels of the picture as it is stored.
struct DetectionTruth {
    /// Polygons that lie packed with all others of their file, so that COCO's fit in memory.
    struct PackedPolygons {
        std::shared_ptr<const CocoMasks> masks;
        CocoMasks::Place place{};
    };
    /// No mask, polygons as they were read, or runs of the picture's size.
    using Mask = std::variant<std::monostate, MaskPolygons, RunLength, PackedPolygons>;

    struct Annotation {
        std::int32_t label = 0;        ///< class, from 1; the numbers of the `labels` field
        std::array<double, 4> box{};   ///< x, y, width, height, as in the file: not clipped
        double area = 0;               ///< of the file; measured_area() where it has none
        bool crowd = false;            ///< a group: detections in it are neither right nor wrong
        bool difficult = false;        ///< VOC: counts as a crowd does, with the usual overlap
        Mask mask{};

        bool trains() const { return !crowd && !difficult; }
    };
    /// The most objects of a picture that a reader takes.
    static constexpr std::int64_t max_objects = 2000;

    ImageId image_id = std::int64_t{0};
    std::int32_t height = 0;
    std::int32_t width = 0;
    std::vector<Annotation> annotations{};
};

/// The polygons of a mask; nothing if it has none.
std::optional<MaskPolygons> mask_polygons(const DetectionTruth::Mask& mask);
/// The mask as runs, polygons rasterised; an empty mask if there is none.
RunLength mask_runs(const DetectionTruth::Mask& mask, std::int32_t height, std::int32_t width);
/// Pixels of the mask; width times height of the box without one.
double measured_area(const DetectionTruth::Annotation& annotation, std::int32_t height,
                     std::int32_t width);

}  // namespace engine
