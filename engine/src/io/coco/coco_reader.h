#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "io/coco/coco_entries.h"
#include "io/coco/coco_masks.h"
#include "io/coco/run_length.h"

namespace engine {

/// The id of a picture.
using CocoId = std::variant<std::int64_t, std::string>;
/// The id as a sentence shows it.
std::string coco_id_text(const CocoId& id);

struct CocoImage {
    CocoId id = std::int64_t{0};
    std::string file_name{};
    std::int32_t width = 0, height = 0;
    /// Its annotations in CocoFile::annotations, in the order of the file.
    std::uint32_t first = 0, count = 0;
};

struct CocoCategory {
    std::int64_t id = 0;
    std::string name{}, supercategory{};
    std::int64_t annotations = 0;
};

/// How many of something a file has, and the first of them.
struct CocoCount {
    std::int64_t count = 0;
    std::int64_t first_id = 0;  ///< of the annotation
    void add(std::int64_t id) {
        if (count++ == 0) first_id = id;
    }
};

struct CocoAnnotation {
    std::int64_t id = 0;
    std::int32_t image = 0;                                  ///< in CocoFile::images
    std::int32_t category = 0;                               ///< in CocoFile::categories
    std::array<double, 4> box{};                             ///< x, y, width, height
    double area = std::numeric_limits<double>::quiet_NaN();  ///< NaN: the file has none
    CocoMasks::Place mask{};
    bool crowd = false;
};

/// A COCO file of instances.
struct CocoFile {
    std::vector<CocoImage> images{};            ///< in the order of the file
    std::vector<CocoCategory> categories{};     ///< in the order of the file
    std::vector<CocoAnnotation> annotations{};  ///< those that were kept, by image
    /// Shared with the truths that are made of it.
    std::shared_ptr<CocoMasks> masks = std::make_shared<CocoMasks>();

    // For the notes and checks of the data set.
    std::int64_t with_segmentation = 0;  ///< annotations whose segmentation is not empty
    CocoCount unknown_image, unknown_category, bad_box;  ///< left out
    CocoCount no_mask;            ///< kept, but their segmentation is none or malformed
    CocoCount id_zero;            ///< kept; pycocotools would count them as never found
    std::string root_category{};  ///< Roboflow's, which is dropped; empty: none

    /// The mask of a kept annotation: nothing, polygons, or runs of its picture's size.
    std::variant<std::monostate, MaskPolygons, RunLength> mask(
        const CocoAnnotation& annotation) const;
};

/// Reads a file in pieces, without a tree of its values. `name` stands in the errors. Leaves out
/// annotations of an unknown image or category, and those whose box has no width or height, is not
/// finite or lies outside of its picture. With `drop_root`, a category that no annotation has and
/// that others name as their supercategory is dropped.
///
/// Throws Error(data): no JSON (with the byte), nesting over 64, a text over 64 MiB, a file over 4
/// GiB; a list that is absent, given twice or no list; an entry without what it must have; an image
/// or category id given twice, two categories of one name, a file name that leads out of the
/// folder; over 20 million annotations, 2,000 in a picture or 10,000 categories.
CocoFile read_coco(const std::string& name, const CocoSource& source, bool drop_root = true);

}  // namespace engine
