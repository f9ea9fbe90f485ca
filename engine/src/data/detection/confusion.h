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

/// Over all classes.
BestF1 best_f1(std::span<const PictureMatches> pictures, OverlapKind kind);

/// The pictures with the most errors, by falling total, at most `most`; none without an error.
std::vector<PictureErrors> most_errors(std::span<const PictureMatches> pictures, OverlapKind kind,
                                       std::size_t most);

}  // namespace engine
