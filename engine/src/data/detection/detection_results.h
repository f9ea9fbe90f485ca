#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "data/detection/average_precision.h"
#include "io/coco/coco_results.h"

namespace engine {

/// Results of an evaluation, picture by picture, and on several ranks part by part.
class DetectionResults {
public:
    void add(PictureMatches picture) { pictures_.push_back(std::move(picture)); }

    /// The bytes of all pictures, for merge() on another rank of the same run.
    std::vector<std::byte> packed() const;
    /// Adds the pictures of another rank. A sample that is there already is passed over. Throws
    /// Error(data) for bytes that packed() did not make.
    void merge(std::span<const std::byte> part);

    /// In the order of the metric: by image id if all are numbers, else by sample. The figures of
    /// one pass over all pictures do not depend on how they were shared.
    std::span<const PictureMatches> pictures();

private:
    std::vector<PictureMatches> pictures_;
};

/// Detections as files of COCO's results: NAME.bbox.json, and with masks NAME.segm.json.
class ResultFiles {
public:
    /// `class_ids`: as Dataset::class_ids(). Throws Error(io).
    ResultFiles(const std::filesystem::path& name, std::vector<std::int64_t> class_ids, bool masks);

    void add(const ImageId& image, std::span<const Detection> found);
    /// Puts the files in their places and returns them. Throws Error(io).
    std::vector<std::filesystem::path> commit();

private:
    std::vector<std::int64_t> class_ids_;
    std::vector<std::filesystem::path> names_;
    CocoResultsWriter boxes_;
    std::optional<CocoResultsWriter> masks_;
};

}  // namespace engine
