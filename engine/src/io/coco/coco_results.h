#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "io/coco/coco_reader.h"
#include "io/file/atomic_file.h"

namespace engine {

/// Writes detections as COCO's results, which pycocotools' loadRes reads. A file of masks has no
/// boxes: loadRes would take their width times height as the areas. Scores and boxes keep all
/// digits, so that the figures of the file are those of the run.
class CocoResultsWriter {
public:
    /// Throws Error(io).
    explicit CocoResultsWriter(const std::filesystem::path& file, NamedBy by = NamedBy::person);

    void add_box(const CocoId& image, std::int64_t category, double score,
                 const std::array<double, 4>& box);
    void add_mask(const CocoId& image, std::int64_t category, double score, const RunLength& mask);
    /// Ends the list and puts the file in its place. Without it there is no file. Throws Error(io).
    void commit();

private:
    void add(const CocoId& image, std::int64_t category, double score, const std::string& rest);
    void flush();

    AtomicFile file_;
    std::string text_ = "[";
    bool first_ = true;
};

}  // namespace engine
