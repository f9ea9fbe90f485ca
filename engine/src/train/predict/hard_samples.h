#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/train/trained_model.h"

namespace engine {

/// How a model's scores judge a sample of this class. The predicted class has the largest score, as
/// where accuracy is counted; an infinite score is the largest, though its loss is NaN. NaN among
/// the scores: no class is predicted.
HardSample judged_by(std::span<const double> scores, std::int64_t label);

/// Keeps the samples with the largest loss. NaN is larger than infinity.
class HardSamples {
public:
    explicit HardSamples(std::size_t max_size) : max_size_(max_size) {}

    void see(HardSample sample);
    /// Largest loss first; of equal ones the first in the part.
    std::vector<HardSample> take();

private:
    std::size_t max_size_;
    std::vector<HardSample> kept_;  ///< a heap, the one to drop first
};

}  // namespace engine
