#pragma once

#include <QColor>
#include <QRectF>
#include <QString>

#include "engine/record/exponent_histogram.h"
#include "widgets/axis_marks.h"

class QPainter;

namespace ui {

struct Tokens;

/// Exponents as places: bin e covers [e, e + 1).
struct ExponentAxis {
    double left = 0;
    double right = 1;

    static constexpr int first = engine::ExponentHistogram::first_exponent;
    static constexpr int last = engine::ExponentHistogram::last_exponent + 1;
    double x(double exponent) const {
        return left + (right - left) * (exponent - first) / (last - first);
    }
    /// Marks of every n-th exponent from one to another.
    AxisMarks marks(int from, int to, int every) const {
        AxisMarks out;
        for (int e = from; e <= to; e += every) out.push_back({x(e), exponentText(e)});
        return out;
    }
    double exponent(double at) const {
        return first + (at - left) / (right - left) * (last - first);
    }
};

/// Limits of a format as exponents: where values become 0, where they lose digits, and where they
/// overflow.
struct FormatLimits {
    double zero;
    double subnormal;
    double overflow;
};
FormatLimits limitsOf(const engine::NumberFormat& format);

/// The ranges of the number formats as rulers below an axis of exponents, one a row: solid where
/// values are normal, dotted where they are subnormal, with the limits written beside them.
struct FormatRulers {
    ExponentAxis axis;
    QRectF place;       ///< the first row, over the whole width; the others follow below it
    int nameWidth = 0;  ///< room at the left for the names of the formats

    /// Null where there is none.
    const engine::NumberFormat* formatAt(const QPointF& at) const;
    /// Paints in the painter's font; the chosen format in its colour.
    void paint(QPainter& painter, const Tokens& tokens, const engine::NumberFormat& chosen,
               const QColor& color) const;

private:
    QRectF row(std::size_t index) const;
};

}  // namespace ui
