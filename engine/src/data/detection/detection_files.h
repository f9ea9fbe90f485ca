#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/detection/detection_truth.h"
#include "engine/settings/catalog.h"

namespace engine {

/// A picture file and its objects, as annotations tell of them.
struct DetectionPicture {
    std::filesystem::path file;
    /// A width and height of 0 are those of the file.
    DetectionTruth truth{};
    int undone_orientation = 1;  ///< EXIF's, where the annotations lie on the stored pixels
};

/// Pictures and classes that a reader has found in its files. Label k is the class classes[k - 1]; a
/// name may be empty, where the files number their classes with gaps.
struct DetectionFound {
    std::string name;  ///< of the data, for messages
    std::vector<std::string> classes;
    std::vector<DetectionPicture> train{}, validation{}, test{};
    bool whole_masks = false;  ///< if any object has a mask, all but a few must have one
    /// The number of each class in the file of each part, in their order; empty: the label itself.
    std::array<std::vector<std::int64_t>, 3> class_ids{};
    std::vector<Message> notes{};
};

/// The one path of the settings. Throws Error(data) if there is none, or several.
std::filesystem::path detection_path(const DatasetConfig& config, const std::string& kind);

/// The file that is called `name` in the folder, there or not. `source` gave the name, and stands
/// in the errors. Throws Error(data) for a name or a link that leads out of the folder.
std::filesystem::path file_within(const std::filesystem::path& folder, const std::string& name,
                                  const std::filesystem::path& source);

/// Opens the parts: compares the pictures' headers with their annotations, leaves out what cannot
/// be learnt, splits off a test part where the files have none, and takes the sizes that all
/// samples fit in. `seed` decides the split. Reports its progress. Throws Error(data), Error(settings), ReadingStopped.
DataParts open_detection(DetectionFound found, const DatasetConfig& config,
                         const TypedOptions& options, std::int64_t seed,
                         const std::stop_token& stop);

}  // namespace engine
