#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct VocObject {
    std::string name;
    std::array<double, 4> box{};  ///< xmin, ymin, xmax, ymax: pixels from 1, the last ones included
    bool difficult = false;
};

/// One of Pascal VOC's annotation files.
struct VocAnnotation {
    std::string file_name;
    std::int32_t width = 0, height = 0;  ///< 0: the file does not say
    std::vector<VocObject> objects;
};

/// Reads the XML of one picture. Parts of an object (head, hands) are no objects. `name` stands in
/// the errors. Throws Error(data) for what is no XML, has another root than `annotation` or entity
/// definitions, an object without a name or a box, or over 2,000 objects.
VocAnnotation read_voc_xml(std::string_view text, const std::string& name);

}  // namespace engine
