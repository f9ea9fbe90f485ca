#pragma once

#include <cstdint>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// Random changes of training images that any image set can have.
struct ImageChanges {
    std::int64_t cutout = 0;  ///< side of the square, pixels; 0: off
    double color_jitter = 0;  ///< 0: off
};

/// `dataset.cutout`.
OptionSpec cutout_option();
/// `dataset.color_jitter`, of sets in colour.
OptionSpec color_jitter_option();
/// Options of a set with so many channels.
std::vector<OptionSpec> image_options(std::int64_t channels);

/// As given for the data set; what its kind does not have is off.
ImageChanges image_changes(const DatasetConfig& config);

}  // namespace engine
