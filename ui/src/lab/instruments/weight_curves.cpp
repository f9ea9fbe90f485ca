#include "lab/instruments/weight_curves.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/axis_marks.h"

namespace ui {

WeightCurves::WeightCurves(const Theme* theme, QWidget* parent) : PaintedWidget(theme, parent) {
    setMinimumHeight(6 * fontMetrics().height());
}

void WeightCurves::setCurves(std::vector<Curve> curves, double end, std::int64_t step) {
    curves_ = std::move(curves);
    end_ = std::max(1.0, end);
    step_ = step;
    update();
}

void WeightCurves::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont caption = font();
    caption.setPointSizeF(caption.pointSizeF() * 0.9);
    painter.setFont(caption);
    const QFontMetrics metrics(caption);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    int names = 0;
    for (const auto& curve : curves_) {
        names = std::max(names, metrics.horizontalAdvance(curve.name));
        for (const QPointF& point : curve.points) {
            if (!std::isfinite(point.y())) continue;
            low = std::min(low, point.y());
            high = std::max(high, point.y());
        }
    }
    if (!(high >= low)) return;
    if (high - low < 1e-12) high = low + std::max(1e-6, std::abs(low) * 1e-3);
    const double bottom = height() - 1.5 * metrics.height();
    const engine::Axis values{engine::AxisKind::linear, {low, high}};
    const auto marks = axisMarks(values, bottom, metrics.height() / 2.0, 5);
    const double left = widestMark(painter, marks) + 6;
    const QRectF area(left, metrics.height() / 2.0, width() - left - names - 12,
                      bottom - metrics.height() / 2.0);
    const auto place = [&](const QPointF& p) {
        return QPointF(area.left() + p.x() / end_ * area.width(),
                       area.bottom() - values.place(p.y()) * area.height());
    };
    paintLeftMarks(painter, t, area, marks);
    paintMarksBelow(painter, t, area,
                    axisMarks({engine::AxisKind::steps, {0, end_}}, area.left(), area.right()),
                    width());
    const double h = metrics.height();
    std::vector<std::pair<QPointF, const Curve*>> ends;
    for (const auto& curve : curves_) {
        QPainterPath path;
        bool open = false;
        QPointF last;
        for (const QPointF& point : curve.points) {
            if (!std::isfinite(point.y())) continue;
            last = place(point);
            open ? path.lineTo(last) : path.moveTo(last);
            open = true;
        }
        if (!open) continue;
        painter.setPen(QPen(curve.color, 1.8));
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(path);
        ends.emplace_back(last, &curve);
    }
    // From the top: a name that would lie on the one before it goes below that one.
    std::ranges::sort(ends, {}, [](const auto& end) { return end.first.y(); });
    double free = 0;
    for (const auto& [end, curve] : ends) {
        const double y = std::max(free, end.y() - h / 2);
        free = y + h;
        painter.setPen(curve->color);
        painter.drawText(QRectF(end.x() + 6, y, names + 8, h), Qt::AlignLeft | Qt::AlignVCenter,
                         curve->name);
    }
    if (step_ > 0) {
        const double x = area.left() + static_cast<double>(step_) / end_ * area.width();
        painter.setPen(QPen(t.dim, 1, Qt::DashLine));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    }
}

}  // namespace ui
