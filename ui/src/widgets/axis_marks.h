#pragma once

#include <QRectF>
#include <QString>
#include <vector>

#include "engine/number/axis.h"

class QPainter;

namespace ui {

struct Tokens;

/// A tick of a hand-painted chart: its pixel and its text.
struct AxisMark {
    double at = 0;
    QString text;
};
using AxisMarks = std::vector<AxisMark>;

/// The ticks of an axis that lies between two pixels.
AxisMarks axisMarks(const engine::Axis& axis, double from, double to, int most = 6);

/// "2⁻²⁴"
QString exponentText(int exponent);
/// place(e) is the pixel of an exponent.
template <typename Exponents, typename Place>
AxisMarks exponentMarks(const Exponents& exponents, const Place& place) {
    AxisMarks marks;
    for (const int e : exponents) marks.push_back({place(e), exponentText(e)});
    return marks;
}

/// Width of the widest text in the painter's font.
double widestMark(const QPainter& painter, const AxisMarks& marks);
/// Writes the texts left of the area; `grid`: lines across it.
void paintLeftMarks(QPainter& painter, const Tokens& tokens, const QRectF& area,
                    const AxisMarks& marks, bool grid = true);
/// Writes the texts below the area, moved so far that none ends right of `right`.
void paintMarksBelow(QPainter& painter, const Tokens& tokens, const QRectF& area,
                     const AxisMarks& marks, double right);

}  // namespace ui
