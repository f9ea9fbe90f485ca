#include "lab/lesson_page/range_slider.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "lab/numbers/number_words.h"
#include "text/format.h"

namespace ui {
namespace {

constexpr double radius = 6.5;

/// A power of ten, at least a hundred of which lie between the ends; between whole numbers that are
/// far enough apart a whole one.
double stepOf(double low, double high) {
    constexpr double wholeFrom = 40;
    const double step = std::pow(10.0, std::floor(std::log10((high - low) / 100)));
    const bool whole = low == std::floor(low) && high == std::floor(high);
    return whole && high - low >= wholeFrom ? std::max(1.0, step) : step;
}

QFont captionOf(QFont font) {
    font.setPointSizeF(font.pointSizeF() * 0.9);
    return font;
}

}  // namespace

RangeSlider::RangeSlider(const Theme* theme, double low, double high, QWidget* parent)
    : PaintedWidget(theme, parent), low_(low), high_(high), step_(stepOf(low, high)) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
}

QSize RangeSlider::sizeHint() const {
    return {320, 2 * QFontMetrics(captionOf(font())).height() + fontMetrics().height() + 8};
}

QSize RangeSlider::minimumSizeHint() const { return {160, sizeHint().height()}; }

void RangeSlider::setValue(std::optional<double> value) {
    value_ = value;
    setAccessibleDescription(value ? written(*value) : tr("no answer yet"));
    update();
}

void RangeSlider::setNote(const QString& note) {
    note_ = note;
    update();
}

QString RangeSlider::written(double value) const {
    if (step_ >= 1) return count(std::llround(value));
    const int digits = static_cast<int>(std::lround(-std::log10(step_)));
    return QString::number(value, 'f', digits);
}

double RangeSlider::left() const { return radius + 2; }
double RangeSlider::right() const { return width() - radius - 2; }
double RangeSlider::lineY() const { return fontMetrics().height() + radius + 3; }

double RangeSlider::place(double value) const {
    return left() + (value - low_) / (high_ - low_) * (right() - left());
}

void RangeSlider::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double y = lineY();
    const QColor ink = t.accent;  // a locked answer is as clear as an open one
    painter.setPen(QPen(t.line, 4, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(left(), y), QPointF(right(), y));
    const double at = place(value_.value_or((low_ + high_) / 2));
    if (value_) {
        painter.setPen(QPen(ink, 4, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(left(), y), QPointF(at, y));
    }
    painter.setPen(QPen(value_ ? ink : t.dim, hasFocus() ? 3 : 1.5));
    painter.setBrush(value_ && !hasFocus() ? ink : t.panel);
    painter.drawEllipse(QPointF(at, y), radius, radius);
    const QString word = value_ ? written(*value_) : tr("drag, or use the arrow keys");
    QFont strong = font();
    if (value_) strong.setWeight(QFont::Bold);
    painter.setFont(value_ ? strong : captionOf(font()));
    painter.setPen(value_ ? ink : t.dim);
    const double wide = QFontMetricsF(painter.font()).horizontalAdvance(word) + 4;
    const double from = std::clamp(at - wide / 2, 0.0, std::max(0.0, width() - wide));
    painter.drawText(QRectF(from, 0, wide, fontMetrics().height()), Qt::AlignCenter, word);
    const QRectF under(0, y + radius + 3, width(), height() - y - radius - 3);
    painter.setFont(captionOf(font()));
    painter.setPen(t.dim);
    painter.drawText(under, Qt::AlignLeft | Qt::AlignTop, plainText(low_));
    painter.drawText(under, Qt::AlignRight | Qt::AlignTop, plainText(high_));
    const double ends = 1.2 * QFontMetricsF(painter.font()).horizontalAdvance(plainText(high_)) + 8;
    const QFontMetrics metrics(painter.font());
    painter.drawText(under, Qt::AlignHCenter | Qt::AlignTop,
                     metrics.elidedText(note_, Qt::ElideRight,
                                        std::max(0, static_cast<int>(width() - 2 * ends))));
}

void RangeSlider::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) dragTo(event->position().x());
}

void RangeSlider::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) dragTo(event->position().x());
}

void RangeSlider::dragTo(double x) {
    moveTo(low_ + (x - left()) / std::max(1.0, right() - left()) * (high_ - low_));
}

/// With Ctrl the keys reach what lies between two steps, such as every whole number.
double RangeSlider::fineStep() const { return step_ >= 10 ? step_ / 10 : step_; }

void RangeSlider::moveTo(double value, bool fine) {
    const double unit = fine ? fineStep() : step_;
    const double rounded = low_ + std::round((value - low_) / unit) * unit;
    const double next = std::clamp(rounded, low_, high_);
    if (value_ == next) return;
    setValue(next);
    emit moved(next);
}

void RangeSlider::keyPressEvent(QKeyEvent* event) {
    const bool fine = event->modifiers().testFlag(Qt::ControlModifier);
    const double unit = fine ? fineStep() : step_;
    const double stride = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 * unit : unit;
    const double now = value_.value_or((low_ + high_) / 2);
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Up:
            return moveTo(now + stride, fine);
        case Qt::Key_Left:
        case Qt::Key_Down:
            return moveTo(now - stride, fine);
        case Qt::Key_Home:
            return moveTo(low_);
        case Qt::Key_End:
            return moveTo(high_);
        default:
            QWidget::keyPressEvent(event);
    }
}

void RangeSlider::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void RangeSlider::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void RangeSlider::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) updateGeometry();
    update();
}

}  // namespace ui
