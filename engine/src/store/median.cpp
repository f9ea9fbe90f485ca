#include "store/median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace engine {
namespace {

void keep_finite(std::vector<double>& values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
}

}  // namespace

double median(std::vector<double> values) {
    keep_finite(values);
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double interquartile_mean(std::vector<double> values) {
    keep_finite(values);
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(values);
    const auto cut = static_cast<std::ptrdiff_t>((values.size() + 1) / 4);
    const auto kept = std::ssize(values) - 2 * cut;
    return std::accumulate(values.begin() + cut, values.end() - cut, 0.0) /
           static_cast<double>(kept);
}

}  // namespace engine
