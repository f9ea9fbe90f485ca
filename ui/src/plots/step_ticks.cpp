#include "plots/step_ticks.h"

#include <algorithm>
#include <cmath>

namespace ui {

std::vector<std::int64_t> stepTicks(double end) {
    const double power = std::pow(10.0, std::floor(std::log10(std::max(1.0, end))));
    const double wanted = end / power > 5 ? 2 * power : end / power > 2 ? power : power / 2;
    const auto every = std::max<std::int64_t>(1, std::llround(wanted));
    std::vector<std::int64_t> ticks;
    for (std::int64_t at = 0; static_cast<double>(at) <= end; at += every) ticks.push_back(at);
    return ticks;
}

}  // namespace ui
