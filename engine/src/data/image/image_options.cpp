#include "data/image/image_options.h"

#include <algorithm>

#include "data/dataset_descriptor.h"

namespace engine {

OptionSpec cutout_option() {
    return {.name = "cutout",
            .label = "Cutout",
            .default_value = std::int64_t{0},
            .help =
                "Side of a square that is blanked at a random place of each training image; it "
                "may reach over the edge. 0: off.",
            .unit = "pixels",
            .lowest = 0,
            .highest = 4096};
}

OptionSpec color_jitter_option() {
    return {.name = "color_jitter",
            .label = "Color jitter",
            .default_value = 0.0,
            .help =
                "Brightness, contrast and saturation of each training image are multiplied by "
                "random factors between 1 - this value and 1 + this value. 0: off.",
            .lowest = 0,
            .highest = 1};
}

std::vector<OptionSpec> image_options(std::int64_t channels) {
    std::vector<OptionSpec> options{cutout_option()};
    if (channels == 3) options.push_back(color_jitter_option());
    return options;
}

ImageChanges image_changes(const DatasetConfig& config) {
    const auto& specs = dataset_descriptor(config.kind).options;
    const TypedOptions options(config.options, specs);
    ImageChanges changes;
    if (find_option(specs, "cutout") != nullptr) changes.cutout = options.whole("cutout");
    if (find_option(specs, "color_jitter") != nullptr)
        changes.color_jitter = options.number("color_jitter");
    return changes;
}

}  // namespace engine
