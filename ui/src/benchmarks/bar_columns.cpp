#include "benchmarks/bar_columns.h"

#include <algorithm>

namespace ui {

namespace {

constexpr double names = 96, between = 16, beside = 6, labels = 118;
constexpr double shortest = 24, longest = 360;  // bars

}  // namespace

BarColumns barColumns(int width) {
    BarColumns out{names, {}};
    const double each = std::min((width - names - 3 * between) / 3, longest + beside + labels);
    double left = names + between;
    for (auto& column : out.columns) {
        const double bar = std::max(shortest, each - labels - beside);
        column = {left, bar, left + bar + beside, std::max(0.0, each - bar - beside)};
        left += each + between;
    }
    return out;
}

}  // namespace ui
