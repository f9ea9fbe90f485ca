#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/detection/detection_truth.h"
#include "engine/data/detection_report.h"

// COCO's metric, in the order of pycocotools' sums and comparisons. A picture is matched by itself,
// on any thread; what remains of it is small and is joined over all pictures at the end.
namespace engine {

/// A detection, in pixels of the stored picture.
struct Detection {
    std::int32_t label = 0;
    double score = 0;
    std::array<double, 4> box{};  ///< x, y, width, height
    RunLength mask{};             ///< without counts where the model has no masks
};

enum class OverlapKind { box, mask };

/// Ranges of areas: all, below 32², up to 96², above.
inline constexpr std::size_t area_ranges = 4;
/// IoU thresholds from 0.5 to 0.95, as numpy.linspace makes them.
inline constexpr std::size_t overlap_thresholds = 10;
double overlap_threshold(std::size_t index);

/// The detections of one class in a picture, matched to its truths.
struct ClassMatches {
    /// A detection. Bit t of a mask stands for overlap_threshold(t).
    struct Entry {
        double score = 0;
        std::array<std::uint16_t, area_ranges> matched{};  ///< to a truth, ignored or not
        std::array<std::uint16_t, area_ranges> ignored{};  ///< neither right nor wrong
    };

    std::int32_t label = 0;
    std::array<std::int32_t, area_ranges> truths{};  ///< that count
    std::vector<Entry> detections{};                 ///< by falling score, at most 100
};

/// The share of a picture in the metric.
struct PictureMatches {
    std::int64_t sample = 0;
    ImageId image_id = std::int64_t{0};
    std::vector<ClassMatches> boxes{}, masks{};
    /// Truth and detection of the confusion matrix, classes from 1; 0: background.
    std::vector<std::array<std::int32_t, 2>> confusions{};

    const std::vector<ClassMatches>& classes(OverlapKind kind) const {
        return kind == OverlapKind::box ? boxes : masks;
    }
};

/// Matches the detections of a picture, in any order. `masks`: by masks too; truths without a mask
/// are then left out of that. Detections whose score is NaN are dropped.
PictureMatches match_picture(std::int64_t sample, const DetectionTruth& truth,
                             std::span<const Detection> detections, bool masks);

/// Joins the pictures, which are in the order of their ids: it decides between equal scores.
PrecisionFigures average_precision(std::span<const PictureMatches> pictures, OverlapKind kind,
                                   std::int32_t classes);

}  // namespace engine
