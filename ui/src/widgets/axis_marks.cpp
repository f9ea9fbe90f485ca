#include "widgets/axis_marks.h"

#include <QPainter>
#include <algorithm>

#include "text/format.h"
#include "theme/tokens.h"

namespace ui {

AxisMarks axisMarks(const engine::Axis& axis, double from, double to, int most) {
    AxisMarks marks;
    for (const auto& tick : axis.ticks(most))
        marks.push_back(
            {from + axis.place(tick.at) * (to - from), QString::fromStdString(tick.text)});
    return marks;
}

QString exponentText(int exponent) { return QStringLiteral("2") + superscript(exponent); }

double widestMark(const QPainter& painter, const AxisMarks& marks) {
    double widest = 0;
    for (const AxisMark& mark : marks)
        widest = std::max<double>(widest, painter.fontMetrics().horizontalAdvance(mark.text));
    return widest;
}

void paintLeftMarks(QPainter& painter, const Tokens& tokens, const QRectF& area,
                    const AxisMarks& marks, bool grid) {
    const double line = painter.fontMetrics().height();
    for (const AxisMark& mark : marks) {
        painter.setPen(QPen(tokens.grid, 1));
        if (grid) painter.drawLine(QPointF(area.left(), mark.at), QPointF(area.right(), mark.at));
        painter.setPen(tokens.dim);
        painter.drawText(QRectF(0, mark.at - line / 2, area.left() - 6, line),
                         Qt::AlignRight | Qt::AlignVCenter, mark.text);
    }
}

void paintMarksBelow(QPainter& painter, const Tokens& tokens, const QRectF& area,
                     const AxisMarks& marks, double right) {
    painter.setPen(tokens.dim);
    for (const AxisMark& mark : marks) {
        const double width = painter.fontMetrics().horizontalAdvance(mark.text) + 2;
        const double left = std::min(mark.at - width / 2, right - width);
        // Chinese characters are higher than the font's own and would clip neighbouring figures.
        painter.drawText(QRectF(left, area.bottom() + 3, width, painter.fontMetrics().height()),
                         Qt::AlignCenter | Qt::TextDontClip, mark.text);
    }
}

}  // namespace ui
