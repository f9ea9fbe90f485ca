#include "record/median.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

std::vector<std::size_t> interquartile_places(const std::vector<double>& values) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i])) places.push_back(i);
    std::ranges::stable_sort(places, {}, [&](std::size_t i) { return values[i]; });
    const auto cut = static_cast<std::ptrdiff_t>((places.size() + 1) / 4);
    return {places.begin() + cut, places.end() - cut};
}

double interquartile_mean(std::vector<double> values) {
    const std::vector<std::size_t> kept = interquartile_places(values);
    if (kept.empty()) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (const std::size_t i : kept) sum += values[i];
    return sum / static_cast<double>(kept.size());
}

double recent_median(const StepRecordReader& record, float StepRecord::*field) {
    constexpr std::int64_t warm_up = 10, most = 512, fewest = 8;
    const std::int64_t end = record.size();
    const std::int64_t begin = std::max(std::min(warm_up, end), end - most);
    std::vector<double> values(static_cast<std::size_t>(end - begin));
    record.column(field, begin, values);
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (static_cast<std::int64_t>(values.size()) < fewest)
        return std::numeric_limits<double>::quiet_NaN();
    return median(std::move(values));
}

}  // namespace engine
