#pragma once

#include <array>

namespace ui {

/// Where the parts of a line of bars lie: the names, then speed, memory and largest batch. In
/// pixels from its left edge.
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
