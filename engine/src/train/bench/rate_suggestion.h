#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/train/learning_rate_finder.h"

namespace engine {

/// Running mean with weight 0.98 on the past, corrected for its start at 0.
class SmoothedLoss {
public:
    double add(double loss) {
        mean_ = beta * mean_ + (1 - beta) * loss;
        weight_ = beta * weight_ + (1 - beta);
        return mean_ / weight_;
    }

private:
    static constexpr double beta = 0.98;
    double mean_ = 0;
    double weight_ = 0;
};

/// The points used for suggestions: without the first tenth of `planned`, where the mean covers few
/// losses, and without the last five, where it diverges.
std::span<const RatePoint> usable_points(const std::vector<RatePoint>& points,
                                         std::int64_t planned);
/// FoundRate::steepest and FoundRate::valley of these points; nothing where there are too few, or
/// the loss never falls.
std::optional<double> steepest_rate(std::span<const RatePoint> points);
std::optional<double> valley_rate(std::span<const RatePoint> points);

}  // namespace engine
