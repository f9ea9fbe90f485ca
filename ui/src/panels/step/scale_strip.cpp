#include "panels/step/scale_strip.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <cmath>
#include <limits>
#include <utility>

#include "feed/run_track.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {

namespace {

constexpr int narrowest = 72;
constexpr int widest = 316;
constexpr double tickHeight = 6;
constexpr double nearby = 3;  // pixels between the mouse and a tick that it means

double exponentOf(float scale) {
    return scale > 0 ? std::log2(static_cast<double>(scale))
                     : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

ScaleStrip::ScaleStrip(const Theme* theme, QWidget* parent) : PaintedWidget(theme, parent) {
    setMaximumWidth(widest);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Loss scale and skipped steps"));
    setAccessibleDescription(
        tr("Left and right choose a step, with Ctrl a skipped one; End returns to the newest."));
    setToolTip(
        tr("Loss scale; red ticks are skipped steps. Drag to choose a step, click a tick to "
           "open the skip, double click to return to the newest step."));
}

void ScaleStrip::setTrack(const std::shared_ptr<RunTrack>& track) {
    track_ = track;
    update();
}

void ScaleStrip::setSelected(std::int64_t step) {
    selected_ = step;
    update();
}

QString ScaleStrip::spoken() const {
    if (!track_ || track_->rows() == 0) return accessibleDescription();
    const engine::KeyFigures now = track_->figures();
    return joined({tr("Scale %1, %2 skipped steps.")
                       .arg(powerOfTwo(now.scale_now), count(now.skipped)),
                   accessibleDescription()});
}

QSize ScaleStrip::sizeHint() const { return {narrowest, size::control - 1}; }

QRectF ScaleStrip::inner() const { return QRectF(rect()).adjusted(1, 1, -1, -1); }

double ScaleStrip::steps() const {
    return static_cast<double>(std::max<std::int64_t>(track_ ? track_->lastStep() : 0, 1));
}

double ScaleStrip::xOf(double step) const {
    return inner().left() + inner().width() * std::clamp(step / steps(), 0.0, 1.0);
}

std::int64_t ScaleStrip::stepAt(double x) const {
    if (!track_ || track_->rows() == 0) return 0;
    const double step = std::round((x - inner().left()) / inner().width() * steps());
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(step), 1, track_->rows());
}

std::int64_t ScaleStrip::skipNear(double x) const {
    if (!track_) return 0;
    const auto& skips = track_->series(&engine::StepRecord::found_inf);
    const std::int64_t row = stepAt(x) - 1;
    if (row < 0) return 0;
    const std::int64_t before = skips.previousAbove0(row), after = skips.nextAbove0(row);
    const auto away = [&](std::int64_t skip) {
        return skip < 0 ? std::numeric_limits<double>::infinity()
                        : std::abs(xOf(static_cast<double>(skip + 1)) - x);
    };
    const std::int64_t nearest = away(before) <= away(after) ? before : after;
    return away(nearest) <= nearby ? nearest + 1 : 0;
}

void ScaleStrip::paintScale(QPainter& painter) const {
    const auto& series = track_->series(&engine::StepRecord::loss_scale);
    const auto columns =
        series.columns(0, series.size(), static_cast<std::int64_t>(inner().width()));
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Bucket& bucket : columns.buckets) {
        if (bucket.finite == 0) continue;
        low = std::min(low, exponentOf(bucket.min));
        high = std::max(high, exponentOf(bucket.max));
    }
    if (!(low <= high)) return;
    const double room = inner().height() - tickHeight - 8;
    const auto yOf = [&](float scale) {
        const double share = high > low ? (exponentOf(scale) - low) / (high - low) : 0.5;
        return inner().top() + 4 + (1 - share) * room;
    };
    QPainterPath line;
    bool begun = false;  // a path of equal points counts as empty
    for (std::size_t i = 0; i < columns.buckets.size(); ++i) {
        const Bucket& bucket = columns.buckets[i];
        const double first = static_cast<double>(columns.first) +
                             static_cast<double>(i) * static_cast<double>(columns.width);
        const double x = xOf(first);
        if (bucket.finite == 0) continue;
        if (!std::exchange(begun, true)) line.moveTo(x, yOf(bucket.last));
        line.lineTo(x, line.currentPosition().y());
        line.lineTo(x, yOf(bucket.min));
        line.lineTo(x, yOf(bucket.max));
        line.lineTo(x, yOf(bucket.last));
    }
    line.lineTo(xOf(static_cast<double>(series.size())), line.currentPosition().y());
    painter.setPen(QPen(theme_->run(*track_), 1.2));
    painter.drawPath(line);
}

void ScaleStrip::paintSkips(QPainter& painter) const {
    const auto& series = track_->series(&engine::StepRecord::found_inf);
    const auto columns =
        series.columns(0, series.size(), static_cast<std::int64_t>(inner().width()));
    painter.setPen(QPen(theme_->tokens().bad, 1.5));
    for (std::size_t i = 0; i < columns.buckets.size(); ++i) {
        if (columns.buckets[i].finite == 0 || columns.buckets[i].max <= 0) continue;
        const double middle = static_cast<double>(columns.first) +
                              (static_cast<double>(i) + 0.5) * static_cast<double>(columns.width);
        const double x = xOf(columns.width == 1 ? middle + 0.5 : middle);
        painter.drawLine(QPointF(x, inner().bottom() - tickHeight), QPointF(x, inner().bottom()));
    }
}

void ScaleStrip::paintHandle(QPainter& painter) const {
    const auto step = selected_ > 0 ? selected_ : track_->rows();
    if (step == 0) return;
    const QColor accent = theme_->tokens().accent;
    const double x = xOf(static_cast<double>(step));
    painter.setPen(QPen(accent, selected_ > 0 ? 1.8 : 1.0));
    painter.drawLine(QPointF(x, inner().top()), QPointF(x, inner().bottom()));
    if (selected_ == 0) return;
    painter.setBrush(accent);
    painter.setPen(Qt::NoPen);
    painter.drawRoundedRect(QRectF(x - 4, inner().top(), 8, 8), 2, 2);
}

void ScaleStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Tokens& t = theme_->tokens();
    painter.setPen(QPen(hasFocus() ? t.accent : t.line, hasFocus() ? 2 : 1));
    painter.setBrush(t.field);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), size::fieldRadius,
                            size::fieldRadius);
    if (!track_) return;
    painter.setBrush(Qt::NoBrush);
    const bool scaled = track_->hasScaler();
    if (scaled) paintScale(painter);
    paintSkips(painter);
    paintHandle(painter);
    if (!scaled) paintNone(painter);
}

/// Paints the words above the line of the step, which would strike them through.
void ScaleStrip::paintNone(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    painter.setFont(Theme::caption());
    painter.fillRect(noneRect(), t.field);
    painter.setPen(t.dim);
    painter.drawText(rect(), Qt::AlignCenter, noneText());
}

QString ScaleStrip::noneText() { return tr("no loss scale"); }

QRect ScaleStrip::noneRect() const {
    QRect words(QPoint(), QFontMetrics(Theme::caption()).size(Qt::TextSingleLine, noneText()) +
                              QSize(size::gap, 0));
    words.moveCenter(rect().center());
    return words & inner().toRect();
}

void ScaleStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !track_) return;
    const double x = event->position().x();
    if (const std::int64_t skip = skipNear(x); skip > 0) {
        emit picked(skip);
        emit opened(skip);
    } else {
        emit picked(stepAt(x));
    }
}

void ScaleStrip::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0 && track_)
        emit picked(stepAt(event->position().x()));
}

void ScaleStrip::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) emit picked(0);
}

void ScaleStrip::keyPressEvent(QKeyEvent* event) {
    if (!track_ || track_->rows() == 0) return QWidget::keyPressEvent(event);
    const std::int64_t rows = track_->rows();
    const std::int64_t at = selected_ > 0 ? selected_ : rows;
    const bool skips = event->modifiers().testFlag(Qt::ControlModifier);
    const auto& series = track_->series(&engine::StepRecord::found_inf);
    switch (event->key()) {
        case Qt::Key_Left: {
            const auto step = skips ? series.previousAbove0(at - 2) + 1 : at - 1;
            if (step >= 1) emit picked(step);
            return;
        }
        case Qt::Key_Right: {
            const auto step = skips ? series.nextAbove0(at) + 1 : at + 1;
            if (step >= 1 && step <= rows) emit picked(step);
            return;
        }
        case Qt::Key_Home:
            emit picked(1);
            return;
        case Qt::Key_End:
            emit picked(0);
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace ui
