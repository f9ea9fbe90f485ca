#pragma once

#include <QVector>
#include <cstdint>
#include <vector>

#include "series/series_pyramid.h"

namespace ui {

/// Points to draw; y = NaN breaks the line. Row i stands at x = i + 1, its step.
struct Polyline {
    QVector<double> x;
    QVector<double> y;
};

/// Where x of a column lies: its middle.
double columnX(const SeriesPyramid::Columns& columns, std::size_t index);

/// Every column from its lowest to its highest value, so that no spike is lost.
Polyline envelope(const SeriesPyramid::Columns& columns);

/// A staircase: level from one value to the next, with each column's extremes.
Polyline stairs(const SeriesPyramid::Columns& columns);

/// Mean of the last `window` rows up to each column with fromX <= x <= toX; at the start, of the
/// rows that exist. So the end of the curve is the loss that cards show. Columns before serve as
/// lead-in. A column without a finite value breaks the line.
Polyline trailingMean(const SeriesPyramid::Columns& columns, std::int64_t window, double fromX,
                     double toX);

/// Rows to average when a column holds `width` rows: `strength` rows, or `strength` / 5 columns if
/// that is more, rounded up to 1, 2 or 5 times a power of ten. 0 for strength 0.
std::int64_t smoothingWindow(std::int64_t width, std::int64_t strength = 20);

/// A column that holds values that cannot be drawn as points.
struct NonFinite {
    double x;
    bool nan;
    bool up;
    bool down;
};
std::vector<NonFinite> nonFinite(const SeriesPyramid::Columns& columns);

/// Moves label centres apart so that neighbours are at least `height` apart and all stay within
/// [low, high] where there is room. Keeps the order of the wanted places.
std::vector<double> spreadLabels(const std::vector<double>& wanted, double height, double low,
                                 double high);

}  // namespace ui
