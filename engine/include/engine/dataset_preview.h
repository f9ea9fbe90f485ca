#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/run_config.h"

namespace engine {

/// What a data set holds, for the settings panel.
struct DatasetPreview {
    std::int64_t train_samples = 0;
    std::int64_t test_samples = 0;
    std::int64_t classes = 0;
    std::vector<std::string> class_names;
    std::vector<std::int64_t> train_counts;  ///< samples a class
    struct Thumbnail {
        int width = 0;
        int height = 0;
        int label = 0;
        std::vector<std::uint8_t> rgb;  ///< height * width * 3
    };
    std::vector<Thumbnail> thumbnails;  ///< empty for data that are not images
};

/// Opens the data set and reads it; may take seconds, so call it off the GUI thread.
/// Throws Error(data) as training would.
DatasetPreview preview_dataset(const DatasetConfig& dataset, std::int64_t seed, int thumbnails);

/// What a dropped file or folder is: the dataset.kind it holds, "settings" for a settings file,
/// "run" for a run's folder, or "" if it is none of them. Looks at content, not only at names.
std::string recognise_path(const std::string& path);

}  // namespace engine
