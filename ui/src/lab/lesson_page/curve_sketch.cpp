#include "lab/lesson_page/curve_sketch.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "lab/numbers/number_words.h"

namespace ui {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double keyStep = 0.01;

}  // namespace

CurveSketch::CurveSketch(const Theme* theme, const Axes& axes, QWidget* parent)
    : PaintedWidget(theme, parent), axes_(axes), shares_(columns, none) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::CrossCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize CurveSketch::sizeHint() const { return {420, 9 * fontMetrics().height()}; }

QRectF CurveSketch::plot() const {
    const int text = fontMetrics().height();
    return QRectF(rect()).adjusted(4.0 * text, text / 2.0, -text, -text - 4);
}

engine::Axis CurveSketch::values() const {
    return {axes_.log ? engine::AxisKind::log2 : engine::AxisKind::linear,
            {axes_.yLow, axes_.yHigh}};
}

double CurveSketch::value(double share) const {
    if (axes_.log) return axes_.yLow * std::pow(axes_.yHigh / axes_.yLow, share);
    return axes_.yLow + share * (axes_.yHigh - axes_.yLow);
}

QList<QPointF> CurveSketch::curve() const {
    QList<QPointF> points;
    for (int i = 0; i < columns; ++i) {
        if (std::isnan(shares_[i])) continue;
        const double x = axes_.xLow + (axes_.xHigh - axes_.xLow) * i / (columns - 1);
        points << QPointF(x, value(shares_[i]));
    }
    return points;
}

void CurveSketch::setCurve(const QList<QPointF>& curve) {
    shares_.fill(none);
    for (const QPointF& point : curve) {
        const double at = (point.x() - axes_.xLow) / (axes_.xHigh - axes_.xLow) * (columns - 1);
        const auto column = static_cast<int>(std::lround(at));
        if (column >= 0 && column < columns)
            shares_[column] = std::clamp(values().place(point.y()), 0.0, 1.0);
    }
    update();
}

void CurveSketch::clear() {
    shares_.fill(none);
    update();
    emit drawn();
}

int CurveSketch::columnAt(double x) const {
    const QRectF area = plot();
    const double at = (x - area.left()) / area.width() * (columns - 1);
    return std::clamp(static_cast<int>(std::lround(at)), 0, columns - 1);
}

void CurveSketch::drawTo(const QPointF& at) {
    const QRectF area = plot();
    const double height = std::clamp((area.bottom() - at.y()) / area.height(), 0.0, 1.0);
    const int column = columnAt(at.x());
    // A fast stroke skips columns: they lie on the line between its two places.
    const int from = last_ < 0 ? column : last_;
    const double before = last_ < 0 ? height : shares_[from];
    for (int i = std::min(from, column); i <= std::max(from, column); ++i) {
        const double part = column == from ? 1 : double(i - from) / (column - from);
        shares_[i] = before + (height - before) * part;
    }
    last_ = cursor_ = column;
    update();
}

void CurveSketch::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    last_ = -1;
    drawTo(event->position());
}

void CurveSketch::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) drawTo(event->position());
}

void CurveSketch::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) emit drawn();
}

void CurveSketch::nudge(double by) {
    double start = shares_[cursor_];
    for (int i = cursor_; std::isnan(start) && i >= 0; --i) start = shares_[i];
    if (std::isnan(start)) start = 0.5;
    shares_[cursor_] = std::clamp(start + by, 0.0, 1.0);
    update();
    emit drawn();
}

void CurveSketch::keyPressEvent(QKeyEvent* event) {
    const double far = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
    switch (event->key()) {
        case Qt::Key_Left:
            cursor_ = std::max(0, cursor_ - static_cast<int>(far));
            break;
        case Qt::Key_Right:
            cursor_ = std::min(columns - 1, cursor_ + static_cast<int>(far));
            break;
        case Qt::Key_Up:
            return nudge(far * keyStep);
        case Qt::Key_Down:
            return nudge(-far * keyStep);
        case Qt::Key_Delete:
            return clear();
        default:
            return QWidget::keyPressEvent(event);
    }
    update();
}

void CurveSketch::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = plot();
    QFont caption = font();
    caption.setPointSizeF(caption.pointSizeF() * 0.9);
    painter.setFont(caption);
    painter.setPen(QPen(hasFocus() ? t.accent : t.line, hasFocus() ? 2 : 1));
    painter.setBrush(t.field);
    painter.drawRoundedRect(area, size::fieldRadius, size::fieldRadius);
    paintLeftMarks(painter, t, area, axisMarks(values(), area.bottom(), area.top(), 5), false);
    const QRectF under(area.left(), area.bottom() + 3, area.width(), height() - area.bottom() - 3);
    painter.drawText(under, Qt::AlignLeft | Qt::AlignTop, plainText(axes_.xLow));
    painter.drawText(under, Qt::AlignRight | Qt::AlignTop, plainText(axes_.xHigh));
    painter.drawText(under, Qt::AlignHCenter | Qt::AlignTop, tr("step"));
    QPainterPath path;
    bool open = false;
    for (int i = 0; i < columns; ++i) {
        if (std::isnan(shares_[i])) continue;
        const QPointF at(area.left() + area.width() * i / (columns - 1),
                         area.bottom() - shares_[i] * area.height());
        open ? path.lineTo(at) : path.moveTo(at);
        open = true;
    }
    if (!open) {
        painter.drawText(area, Qt::AlignCenter,
                         tr("Draw the curve with the mouse or the arrow keys."));
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(t.accent, 2, Qt::DashLine));
    painter.drawPath(path);
    if (hasFocus()) {
        const double x = area.left() + area.width() * cursor_ / (columns - 1);
        painter.setPen(QPen(t.accent, 1));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    }
}

}  // namespace ui
