#pragma once

#include <QColor>
#include <QString>

#include "microscope/exponent_axis.h"

class QPainter;

namespace ui {

struct Tokens;

/// "2⁻²⁴"
QString exponentText(int exponent);

/// The ranges of the number formats as rulers below an axis of exponents, one a row: solid where
/// values are normal, dotted where they are subnormal, with the limits written beside them.
struct FormatRulers {
    ExponentAxis axis;
    QRectF place;       ///< the first row, over the whole width; the others follow below it
    int nameWidth = 0;  ///< room at the left for the names of the formats

    /// Null where there is none.
    const engine::NumberFormat* formatAt(const QPointF& at) const;
    /// In the painter's font; the chosen format in its colour.
    void paint(QPainter& painter, const Tokens& tokens, const engine::NumberFormat& chosen,
               const QColor& color) const;

private:
    QRectF row(std::size_t index) const;
};

}  // namespace ui
