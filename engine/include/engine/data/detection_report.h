#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// Points of a precision-recall curve: recall i * 0.01.
inline constexpr std::size_t recall_points = 101;

/// The figures of one class; NaN where the class has no truth that counts.
struct ClassPrecision {
    std::int64_t truths = 0;
    double ap = 0, ap50 = 0, ap75 = 0;
    std::array<double, recall_points> curve50{}, curve75{};  ///< precision by recall
};

/// COCO's twelve figures, in pycocotools' order.
inline constexpr std::array precision_figures = {"AP",   "AP50",  "AP75",  "APs",
                                                 "APm",  "APl",   "AR1",   "AR10",
                                                 "AR100", "ARs",  "ARm",   "ARl"};
/// By precision_figures: AP, at IoU 0.5 and 0.75, of small, medium and large objects; AR with 1, 10
/// and 100 detections a picture, of small, medium and large objects. NaN where no class has a value
/// (pycocotools: -1).
struct PrecisionFigures {
    std::array<double, precision_figures.size()> values{};
    std::vector<ClassPrecision> classes{};  ///< of the labels from 1
};

/// The score from which detections count where F1 at IoU 0.5 is largest, over all classes. Zeros
/// without a right detection.
struct BestF1 {
    double score = 0;
    double f1 = 0, precision = 0, recall = 0;
};

/// Errors of a picture at IoU 0.5.
struct PictureErrors {
    std::int64_t sample = 0;
    std::int64_t missed = 0;  ///< truths that no detection matches
    double false_scores = 0;  ///< sum of the scores of wrong detections
    double total() const { return static_cast<double>(missed) + false_scores; }
};

/// How well a model finds objects in the pictures of a part.
struct DetectionReport {
    std::vector<std::string> classes;  ///< of the labels from 1
    PrecisionFigures boxes;
    std::optional<PrecisionFigures> masks;  ///< nothing: the model has none
    /// How often an object of a class (first, 0: background) is taken for one of a class (second);
    /// pairs that never occur are absent.
    std::map<std::array<std::int32_t, 2>, std::int64_t> confusions;
    BestF1 best;
    std::vector<PictureErrors> errors;  ///< of the pictures with most, the worst first

    /// By masks where there are some.
    const PrecisionFigures& primary() const { return masks ? *masks : boxes; }
};

}  // namespace engine
