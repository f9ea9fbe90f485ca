#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/detection/average_precision.h"

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

}  // namespace engine
