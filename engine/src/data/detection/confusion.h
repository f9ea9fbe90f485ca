#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "data/detection/average_precision.h"

// Which classes a model takes for one another, and where it errs most.
namespace engine {

/// Pairs (truth, detection) of a picture, 0: background. Detections with a score of at least 0.25
/// are matched to truths of any class, one to one, by falling IoU of the boxes from 0.5 on. Crowds
/// and difficult truths are no pair, nor is an unmatched detection that lies on one.
std::vector<std::array<std::int32_t, 2>> find_confusions(const DetectionTruth& truth,
                                                         std::span<const Detection> detections);

/// How often each pair occurs; pairs that never do are absent.
std::map<std::array<std::int32_t, 2>, std::int64_t> confusion_counts(
    std::span<const PictureMatches> pictures);

/// The score from which detections count where F1 at IoU 0.5 is largest, over all classes. Zeros
/// without a right detection.
struct BestF1 {
    double score = 0;
    double f1 = 0, precision = 0, recall = 0;
};
BestF1 best_f1(std::span<const PictureMatches> pictures, OverlapKind kind);

/// Errors of a picture at IoU 0.5.
struct PictureErrors {
    std::int64_t sample = 0;
    std::int64_t missed = 0;  ///< truths that no detection matches
    double false_scores = 0;  ///< sum of the scores of wrong detections
    double total() const { return static_cast<double>(missed) + false_scores; }
};
/// The pictures with the most errors, by falling total, at most `most`; none without an error.
std::vector<PictureErrors> most_errors(std::span<const PictureMatches> pictures, OverlapKind kind,
                                       std::size_t most);

}  // namespace engine
