#include "lab/instruments/weight_lens.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "engine/number/number_format.h"
#include "lab/numbers/number_words.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

const engine::NumberFormat& formatOf(const std::string& dtype) {
    if (dtype == "f16" || dtype == "fp16") return engine::fp16_format;
    if (dtype == "bf16") return engine::bf16_format;
    return engine::fp32_format;
}

QString lensFigure(double value) { return nearText(value, 6); }

QString signedFigure(double value) {
    return (value < 0 ? u"−"_s : u"+"_s) + nearText(std::abs(value), 3);
}

void arrow(QPainter& painter, QPointF from, QPointF to) {
    painter.drawLine(from, to);
    const double side = to.x() > from.x() ? -1 : 1;
    if (std::abs(to.x() - from.x()) < 3) return;
    painter.drawLine(to, to + QPointF(6 * side, -4));
    painter.drawLine(to, to + QPointF(6 * side, 4));
}

}  // namespace

/// Places on the widget: the stored value in the middle, its two neighbours near the edges.
struct WeightLens::Line {
    double y;
    double left, right;
    double below, value, above;

    double x(double number) const {
        const double middle = (left + right) / 2;
        const double half = (right - left) / 2 * 0.8;
        const double gap = number < value ? value - below : above - value;
        return middle + std::clamp((number - value) / gap, -1.25, 1.25) * half;
    }
};

WeightLens::WeightLens(const Theme* theme, QWidget* parent) : QWidget(parent), theme_(theme) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize WeightLens::sizeHint() const { return {380, 11 * fontMetrics().height()}; }
QSize WeightLens::minimumSizeHint() const { return {260, sizeHint().height()}; }

double WeightLens::update(const engine::WeightChange& change) {
    if (!std::isnan(change.master_before)) return change.master_after - change.master_before;
    return -change.lr * change.gradient;
}

bool WeightLens::lost(const engine::WeightChange& change) {
    const bool master = !std::isnan(change.master_before);
    const bool still =
        master ? change.master_after == change.master_before : change.after == change.before;
    return still && std::isfinite(change.gradient) &&
           (master ? change.gradient * change.lr : update(change)) != 0;
}

void WeightLens::setShown(const Shown& shown) {
    shown_ = shown;
    some_ = true;
    setAccessibleDescription(headline());
    QWidget::update();
}

void WeightLens::setNothing(const QString& why) {
    some_ = false;
    nothing_ = why;
    QWidget::update();
}

QString WeightLens::headline() const {
    const auto& change = shown_.change;
    if (shown_.skipped) return tr("%1: the step was skipped").arg(shown_.label);
    if (update(change) == 0 && !lost(change)) return tr("%1: no change").arg(shown_.label);
    if (lost(change)) return tr("%1: the change is rounded away").arg(shown_.label);
    if (std::isnan(change.master_before))
        return tr("%1: the change is kept, rounded").arg(shown_.label);
    return tr("%1: the change is kept").arg(shown_.label);
}

void WeightLens::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (!some_) {
        painter.setPen(t.dim);
        painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         nothing_);
        return;
    }
    const int h = fontMetrics().height();
    QFont bold = font();
    bold.setWeight(QFont::Bold);
    painter.setFont(bold);
    painter.setPen(shown_.color);
    painter.drawText(QRect(0, 0, width(), h + 2), Qt::AlignLeft | Qt::AlignVCenter, headline());
    const auto& format = formatOf(shown_.dtype);
    const std::uint32_t bits = engine::to_bits(format, shown_.change.before);
    const auto up = engine::next_above(format, bits), down = engine::next_below(format, bits);
    if (!up || !down || !std::isfinite(shown_.change.before)) {
        painter.setPen(t.dim);
        painter.drawText(rect().adjusted(0, 2 * h, 0, 0), Qt::AlignHCenter | Qt::AlignTop,
                         lensFigure(shown_.change.before));
        return;
    }
    const Line line{5.6 * h,
                    0,
                    double(width()),
                    engine::from_bits(format, *down),
                    shown_.change.before,
                    engine::from_bits(format, *up)};
    paintLine(painter, line);
    paintUpdate(painter, line);
}

void WeightLens::paintLine(QPainter& painter, const Line& line) const {
    const Tokens& t = theme_->tokens();
    const int h = fontMetrics().height();
    QFont caption = font();
    caption.setPointSizeF(caption.pointSizeF() * 0.9);
    painter.setFont(caption);
    const double low = line.x((line.below + line.value) / 2);
    const double high = line.x((line.above + line.value) / 2);
    QColor zone = shown_.color;
    zone.setAlphaF(0.10f);
    painter.fillRect(QRectF(low, 2.6 * h, high - low, line.y - 2.6 * h), zone);
    painter.setPen(QPen(t.dim, 1, Qt::DashLine));
    for (const double x : {low, high}) painter.drawLine(QPointF(x, 2.6 * h), QPointF(x, line.y));
    painter.setPen(t.text);
    painter.drawText(QRectF(0, 1.4 * h, width(), h), Qt::AlignHCenter,
                     tr("every value in this range is stored as %1").arg(lensFigure(line.value)));
    painter.setPen(QPen(t.dim, 1.5));
    painter.drawLine(QPointF(line.left, line.y), QPointF(line.right, line.y));
    for (const double value : {line.below, line.value, line.above}) {
        const double x = line.x(value);
        painter.setPen(QPen(t.text, 1.5));
        painter.drawLine(QPointF(x, line.y - 6), QPointF(x, line.y + 6));
        painter.setPen(value == line.value ? t.text : t.dim);
        const double wide = painter.fontMetrics().horizontalAdvance(lensFigure(value)) + 4;
        const double from = std::clamp(x - wide / 2, 0.0, width() - wide);
        painter.drawText(QRectF(from, line.y + 8, wide, h), Qt::AlignCenter, lensFigure(value));
    }
}

void WeightLens::paintUpdate(QPainter& painter, const Line& line) const {
    const Tokens& t = theme_->tokens();
    const int h = fontMetrics().height();
    const bool master = !std::isnan(shown_.change.master_before);
    QColor faint = shown_.color;
    faint.setAlphaF(0.45f);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faint);
    for (const double at : shown_.trail) {
        if (at > line.below - (line.above - line.value) &&
            at < line.above + (line.above - line.value))
            painter.drawEllipse(QPointF(line.x(at), line.y), 2.5, 2.5);
    }
    const double start = master ? shown_.change.master_before : shown_.change.before;
    const double by = shown_.skipped ? 0 : update(shown_.change);
    const double y = line.y - 1.3 * h;
    painter.setBrush(shown_.color);
    painter.drawEllipse(
        QPointF(line.x(master ? shown_.change.master_after : shown_.change.after), line.y), 5, 5);
    painter.setPen(QPen(shown_.color, 2));
    arrow(painter, {line.x(start), y}, {line.x(start + by), y});
    const QString word = signedFigure(by);
    const double wide = painter.fontMetrics().horizontalAdvance(word) + 4;
    const double from = std::clamp(line.x(start + by / 2) - wide / 2, 0.0, width() - wide);
    painter.drawText(QRectF(from, y - h - 2, wide, h), Qt::AlignCenter, word);
    const double gap = line.above - line.value;
    painter.setPen(t.dim);
    painter.drawText(QRectF(0, line.y + 8 + 1.3 * h, width(), 2 * h), Qt::AlignHCenter,
                     tr("the change is %1 of a gap · gap %2")
                         .arg(nearText(std::abs(by) / gap, 2), nearText(gap, 3)));
    if (master) {
        painter.drawText(
            QRectF(0, line.y + 8 + 2.4 * h, width(), h), Qt::AlignHCenter,
            tr("FP32 master now %1").arg(QString::number(shown_.change.master_after, 'g', 9)));
    }
}

}  // namespace ui
