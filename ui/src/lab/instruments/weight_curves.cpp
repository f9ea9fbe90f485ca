#include "lab/instruments/weight_curves.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {

WeightCurves::WeightCurves(const Theme* theme, QWidget* parent) : QWidget(parent), theme_(theme) {
    setMinimumHeight(6 * fontMetrics().height());
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
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
    const int left = std::max(metrics.horizontalAdvance(plainText(high)),
                              metrics.horizontalAdvance(plainText(low))) +
                     6;
    const QRectF area(left, metrics.height() / 2.0, width() - left - names - 12,
                      height() - 2.0 * metrics.height());
    const auto place = [&](const QPointF& p) {
        return QPointF(area.left() + p.x() / end_ * area.width(),
                       area.bottom() - (p.y() - low) / (high - low) * area.height());
    };
    painter.setPen(QPen(t.grid, 1));
    painter.drawLine(area.topLeft(), area.topRight());
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.setPen(t.dim);
    const double h = metrics.height();
    painter.drawText(QRectF(0, area.top() - h / 2, left - 6, h), Qt::AlignRight, plainText(high));
    painter.drawText(QRectF(0, area.bottom() - h / 2, left - 6, h), Qt::AlignRight, plainText(low));
    painter.drawText(QRectF(area.left(), area.bottom() + 3, area.width(), h), Qt::AlignLeft,
                     QStringLiteral("0"));
    painter.drawText(QRectF(area.left(), area.bottom() + 3, area.width(), h), Qt::AlignRight,
                     count(std::llround(end_)));
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
