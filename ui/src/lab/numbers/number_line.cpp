#include "lab/numbers/number_line.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "widgets/axis_marks.h"

namespace ui {

using engine::NumberFormat;

namespace {

constexpr double firstExponent = -153;
constexpr double lastExponent = 134;

/// Three significant digits: as fine as a mouse points.
double threeDigits(double value) { return QString::number(value, 'g', 3).toDouble(); }

}  // namespace

NumberLine::NumberLine(const Theme* theme, NumberModel* model, QWidget* parent)
    : PaintedWidget(theme, parent), model_(model) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::SizeHorCursor);
    setAccessibleName(tr("Logarithmic number line"));
    connect(model_, &NumberModel::changed, this, qOverload<>(&QWidget::update));
}

QSize NumberLine::sizeHint() const { return {900, 8 * (fontMetrics().height() + 1)}; }
QSize NumberLine::minimumSizeHint() const { return {400, 8 * (fontMetrics().height() - 1)}; }

QRect NumberLine::area() const {
    const int em = fontMetrics().height();
    return rect().adjusted(size::inside + 5 * em, 2, -size::inside, -em - 6);
}

double NumberLine::xOf(double exponent) const {
    const QRect at = area();
    return at.left() + at.width() * (exponent - firstExponent) / (lastExponent - firstExponent);
}

double NumberLine::exponentAt(double x) const {
    const QRect at = area();
    return firstExponent + (x - at.left()) / at.width() * (lastExponent - firstExponent);
}

void NumberLine::drag(double x) {
    const double exponent = std::clamp(exponentAt(x), -150.0, 130.0);
    const double value = threeDigits(std::exp2(exponent));
    model_->setNumber(std::signbit(model_->number().value) ? -value : value);
}

void NumberLine::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) drag(event->position().x());
}

void NumberLine::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) drag(event->position().x());
}

void NumberLine::keyPressEvent(QKeyEvent* event) {
    const double value = model_->number().value;
    const bool plain = (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    if (plain && std::isfinite(value) && event->key() == Qt::Key_Left && std::fabs(value) > 1e-300)
        return model_->setNumber(value / 2);
    if (plain && std::isfinite(value) && event->key() == Qt::Key_Right && std::fabs(value) < 1e300)
        return model_->setNumber(value * 2);
    QWidget::keyPressEvent(event);
}

void NumberLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.85);
    painter.setFont(small);
    paintZones(painter);
    int row = 0;
    for (const auto* format : engine::common_number_formats()) paintRange(painter, row++, *format);
    paintAxis(painter);
    paintNumber(painter);
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme_->tokens().accent, 2));
        painter.drawRoundedRect(rect().adjusted(2, 1, -2, -1), size::fieldRadius,
                                size::fieldRadius);
    }
}

void NumberLine::paintZones(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const NumberFormat& format = model_->format();
    const QRect at = area();
    const double tiny = xOf(format.last_flushed_exponent),
                 normal = xOf(std::log2(format.smallest_normal)),
                 beyond = xOf(std::log2(format.overflow));
    const QColor lost = blend(t.panel, t.bad, 0.07), fewer = blend(t.panel, t.caution, 0.10);
    painter.fillRect(QRectF(at.left(), at.top(), tiny - at.left(), at.height()), lost);
    painter.fillRect(QRectF(tiny, at.top(), normal - tiny, at.height()), fewer);
    painter.fillRect(QRectF(beyond, at.top(), at.right() - beyond, at.height()), lost);
    const int high = painter.fontMetrics().height();
    const auto word = [&](double left, double right, const QColor& color, const QString& text) {
        if (painter.fontMetrics().horizontalAdvance(text) > right - left) return;
        painter.setPen(color);
        painter.drawText(QRectF(left, at.top() + 1, right - left, high), Qt::AlignCenter, text);
    };
    const QString title = formatTitle(format);
    word(at.left(), tiny, t.dim, tr("%1 rounds to zero").arg(title));
    word(tiny, normal, t.dim, tr("subnormal"));
    word(beyond, at.right(), t.bad,
         format.beyond == engine::Beyond::infinity ? tr("%1 inf").arg(title) : tr("%1 NaN").arg(title));
}

void NumberLine::paintRange(QPainter& painter, int row, const NumberFormat& format) const {
    const Tokens& t = theme_->tokens();
    const QRect at = area();
    const bool selected = &format == &model_->format();
    const double pitch = static_cast<double>(at.height()) / 7;
    const double top = at.top() + (row + 1) * pitch;
    const QRectF line(at.left(), top, at.width(), pitch);
    const double tall = std::max(6.0, pitch * 0.6), y = line.center().y() - tall / 2;
    const double first = xOf(std::log2(format.smallest)),
                 normal = xOf(std::log2(format.smallest_normal)),
                 last = xOf(std::log2(format.largest));
    const QColor color = selected ? t.fp16 : blend(t.panel, t.dim, 0.35);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(selected ? color : t.dim, 1, Qt::DashLine));
    painter.drawRect(QRectF(first, y + 0.5, normal - first, tall - 1));
    painter.fillRect(QRectF(normal, y, last - normal, tall), color);
    QFont face = painter.font();
    const QFont plain = face;
    face.setWeight(selected ? QFont::Bold : QFont::Normal);
    painter.setFont(face);
    painter.setPen(selected ? t.fp16 : t.dim);
    painter.drawText(QRectF(size::inside, top, at.left() - size::inside, pitch),
                     Qt::AlignLeft | Qt::AlignVCenter, formatTitle(format));
    const QString low = u"2"_s + superscript(static_cast<int>(std::log2(format.smallest)));
    const bool wide = format.largest > 1e30;
    QString high = wide ? tr("to %1").arg(nearText(format.largest, 3))
                        : count(static_cast<std::int64_t>(format.largest));
    if (format.beyond != engine::Beyond::infinity) high = tr("%1, then NaN").arg(high);
    if (wide) {
        painter.setPen(selected ? t.panel : t.text);
        const QRectF inside = QRectF(normal + 4, top, last - normal - 8, pitch);
        painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, tr("from %1").arg(low));
        painter.drawText(inside, Qt::AlignRight | Qt::AlignVCenter, high);
    } else {
        painter.drawText(QRectF(first - 80, top, 76, pitch), Qt::AlignRight | Qt::AlignVCenter,
                         low);
        painter.drawText(QRectF(last + 5, top, 160, pitch), Qt::AlignLeft | Qt::AlignVCenter, high);
    }
    painter.setFont(plain);
}

void NumberLine::paintAxis(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const QRect at = area();
    painter.setPen(QPen(t.dim, 1));
    painter.drawLine(at.left(), at.bottom() + 1, at.right(), at.bottom() + 1);
    constexpr std::array labelled{-128, -96, -64, -32, -16, 0, 16, 32, 64, 96, 128};
    const auto marks = exponentMarks(labelled, [this](int exponent) { return xOf(exponent); });
    for (const auto& [x, text] : marks)
        painter.drawLine(QPointF(x, at.bottom() + 1), QPointF(x, at.bottom() + 5));
    paintMarksBelow(painter, t, at, marks, width());
}

void NumberLine::paintNumber(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const QRect at = area();
    const double value = model_->number().value;
    if (std::isnan(value)) return;
    const double exponent =
        value == 0          ? firstExponent
        : std::isinf(value) ? lastExponent
                            : std::clamp(std::log2(std::fabs(value)), firstExponent, lastExponent);
    const double x = xOf(exponent);
    painter.fillRect(QRectF(x - 1, at.top(), 2, at.height()), t.accent);
    QFont face = painter.font();
    face.setWeight(QFont::Bold);
    painter.setFont(face);
    const QString text = model_->problem().isEmpty() ? model_->text() : nearText(value, 6);
    const QString shown = painter.fontMetrics().elidedText(text, Qt::ElideRight, 160);
    const double wide = painter.fontMetrics().horizontalAdvance(shown) + 12;
    const double left = x + wide > at.right() ? x - wide : x;
    const QRectF tag(left, at.top(), wide, painter.fontMetrics().height() + 2);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.accent);
    painter.drawRoundedRect(tag, 3, 3);
    painter.setPen(t.onAccent);
    painter.drawText(tag, Qt::AlignCenter, shown);
}

}  // namespace ui
