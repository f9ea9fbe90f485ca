#pragma once

#include <array>

namespace ui {

/// The horizontal positions in a line of bars, in pixels from its left edge: names, then speed,
/// memory and largest batch.
struct BarColumns {
    struct Column {
        double bar, barWidth;      ///< the bars
        double label, labelWidth;  ///< their figures, right of them
    };
    double nameWidth;
    std::array<Column, 3> columns;
};
BarColumns barColumns(int width);

}  // namespace ui
