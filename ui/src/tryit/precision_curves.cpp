#include "tryit/precision_curves.h"

#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <cmath>

#include "tryit/detection_models.h"
#include "tryit/scene_objects.h"
#include "tryit/tried_model.h"

namespace ui {
namespace {

constexpr std::size_t mostCurves = 6;
constexpr int leastHeight = 200;

QPolygonF curveIn(const QRectF& area, const std::array<double, engine::recall_points>& precision) {
    QPolygonF out;
    for (std::size_t i = 0; i < precision.size(); ++i) {
        const double recall = static_cast<double>(i) / static_cast<double>(precision.size() - 1);
        out << QPointF(area.left() + recall * area.width(),
                       area.bottom() - precision[i] * area.height());
        if (precision[i] == 0) break;  // no detection reaches this recall
    }
    return out;
}

}  // namespace

PrecisionCurves::PrecisionCurves(const Theme* theme, SharedReport report, QWidget* parent)
    : PaintedWidget(theme, parent, {320, 300}, {200, leastHeight}), report_(std::move(report)) {
    setAccessibleName(tr("Precision and recall"));
    for (std::size_t i = 0; i < figures().size(); ++i) {
        if (!std::isnan(figures()[i].ap)) shown_.push_back(i);
    }
    std::ranges::stable_sort(shown_, {}, [this](std::size_t i) { return figures()[i].ap; });
    shown_.resize(std::min(shown_.size(), mostCurves));
}

QString PrecisionCurves::spoken() const {
    QStringList out;
    for (const std::size_t i : shown_)
        out << tr("%1: AP50 %2, AP75 %3")
                   .arg(className(report_->detections->classes, i), inPoints(figures()[i].ap50),
                        inPoints(figures()[i].ap75));
    return out.join(u"; "_s);
}

void PrecisionCurves::paintAxes(QPainter& painter, const QRectF& area) const {
    const Tokens& t = theme_->tokens();
    const double line = painter.fontMetrics().height();
    for (int i = 0; i <= 4; ++i) {
        const double share = i / 4.0;
        const double x = area.left() + share * area.width();
        const double y = area.bottom() - share * area.height();
        painter.setPen(t.grid);
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        if (i % 2 != 0) continue;
        painter.setPen(t.dim);
        const QString text = QString::number(share);
        painter.drawText(QRectF(x - 20, area.bottom() + 2, 40, line), Qt::AlignCenter, text);
        painter.drawText(QRectF(0, y - line / 2, area.left() - 4, line),
                         Qt::AlignRight | Qt::AlignVCenter, text);
    }
    painter.setPen(t.dim);
    painter.drawText(QRectF(area.left(), area.bottom() + 2 + line, area.width(), line),
                     Qt::AlignCenter, tr("Recall (lines: IoU 0.50, dashes: 0.75)"));
}

void PrecisionCurves::paintLegend(QPainter& painter, const QRectF& area) const {
    const double line = painter.fontMetrics().height() + 2;
    double y = area.bottom() - line * static_cast<double>(shown_.size()) - size::grid;
    for (const std::size_t i : shown_) {
        painter.fillRect(
            QRectF(area.left() + size::gap, y + (line - size::mark) / 2, size::mark, size::mark),
            classColor(static_cast<std::int32_t>(i + 1)));
        painter.setPen(theme_->tokens().text);
        const QRectF place(area.left() + size::gap + size::mark + 4, y, area.width() / 2, line);
        const QString text = className(report_->detections->classes, i) + u"  "_s +
                             inPoints(figures()[i].ap50) + u" / "_s + inPoints(figures()[i].ap75);
        painter.drawText(place, Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt::ElideRight,
                                                          static_cast<int>(place.width())));
        y += line;
    }
}

void PrecisionCurves::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::caption());
    const double line = painter.fontMetrics().height();
    const QRectF area = QRectF(rect()).adjusted(
        painter.fontMetrics().horizontalAdvance(u"0.5"_s) + 8, line / 2, -20, -2 * line - 4);
    paintAxes(painter, area);
    for (const std::size_t i : shown_) {
        QPen pen(classColor(static_cast<std::int32_t>(i + 1)), size::smoothCurve);
        painter.setPen(pen);
        painter.drawPolyline(curveIn(area, figures()[i].curve50));
        pen.setDashPattern({3, 2});
        painter.setPen(pen);
        painter.drawPolyline(curveIn(area, figures()[i].curve75));
    }
    paintLegend(painter, area);
}

}  // namespace ui
