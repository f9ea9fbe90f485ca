#include "train/bench/rate_suggestion.h"

#include <algorithm>
#include <cmath>

namespace engine {

std::span<const RatePoint> usable_points(const std::vector<RatePoint>& points,
                                         std::int64_t planned) {
    constexpr std::size_t at_end = 5;
    const auto at_start = static_cast<std::size_t>(planned / 10);
    if (points.size() <= at_start + at_end) return {};
    return std::span(points).subspan(at_start, points.size() - at_start - at_end);
}

/// The slope is that over a tenth of the points: from one to the next it is mostly noise.
std::optional<double> steepest_rate(std::span<const RatePoint> points) {
    std::optional<double> rate;
    double steepest = 0;
    const std::size_t width = std::max<std::size_t>(points.size() / 10, 1);
    for (std::size_t i = width; i < points.size(); ++i) {
        const RatePoint &from = points[i - width], &to = points[i];
        const double slope = (to.smoothed - from.smoothed) / std::log(to.lr / from.lr);
        if (!(slope < steepest)) continue;
        steepest = slope;
        rate = points[i - width / 2].lr;
    }
    return rate;
}

/// The longest descent is the longest falling subsequence: rises in between do not end it.
std::optional<double> valley_rate(std::span<const RatePoint> points) {
    std::vector<std::size_t> length(points.size(), 1);  // of the longest that ends at each point
    std::size_t end = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (points[i].smoothed < points[j].smoothed)
                length[i] = std::max(length[i], length[j] + 1);
        }
        if (length[i] > length[end]) end = i;
    }
    if (points.empty() || length[end] < 2) return std::nullopt;
    const std::size_t begin = end + 1 - length[end];
    return points[begin + (end - begin) / 2].lr;
}

}  // namespace engine
