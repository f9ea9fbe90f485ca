#include "engine/catalog.h"

namespace engine {

std::span<const DatasetInfo> datasets() {
    static const std::vector<DatasetInfo> list = {
        {.kind = "glyphs",
         .title = "Glyphs",
         .summary = "Drawn digits and letters with noise, made from the seed; nothing to download.",
         .needs = "",
         .sample_shape = {1, 28, 28},
         .classes = 20,
         .augments = false},
        {.kind = "spirals",
         .title = "Spirals",
         .summary =
             "Points of two interleaved spirals, made from the seed; for the smallest networks.",
         .needs = "",
         .sample_shape = {2},
         .classes = 2,
         .augments = false},
    };
    return list;
}

}  // namespace engine
