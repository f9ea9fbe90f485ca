#include "record/recent_median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "record/median.h"

namespace engine {

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
