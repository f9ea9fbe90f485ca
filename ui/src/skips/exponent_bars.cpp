#include "skips/exponent_bars.h"

#include <QPainter>
#include <QPainterPath>
#include <array>
#include <cmath>

#include "feed/run_track.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/axis_marks.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::ExponentHistogram;

namespace {

constexpr int firstShown = -30;  // exponents on the axis
constexpr int lastShown = ExponentHistogram::last_exponent;
constexpr int columns = lastShown - firstShown + 1 + 1;  // and one of what is not finite

std::int64_t countAt(const ExponentHistogram& histogram, int column) {
    if (column == columns - 1) return histogram.non_finite();
    const auto at =
        static_cast<std::size_t>(firstShown + column - ExponentHistogram::first_exponent);
    return histogram.bins[at];
}

}  // namespace

/// Positions of columns and counts.
struct ExponentBars::Axis {
    QRectF plot;
    double most = 1;  // log2(1 + count) at the top

    double x(int column) const { return plot.left() + plot.width() * column / columns; }
    double y(std::int64_t count) const {
        return plot.bottom() - plot.height() * std::log2(1.0 + static_cast<double>(count)) / most;
    }
};

ExponentBars::ExponentBars(const Theme* theme, SkipsModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Exponents of the first non-finite tensor"));
    connect(model_, &SkipsModel::stepChanged, this, qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QString ExponentBars::spoken() const {
    const auto* report = model_->report();
    if (report == nullptr || !report->histograms)
        return tr("Exponents of the first non-finite tensor, once the step is examined.");
    const ExponentHistogram& found = report->histograms->before;
    return tr("%1 values, %2 of them not finite.")
        .arg(count(found.total()), count(found.non_finite()));
}

QSize ExponentBars::sizeHint() const { return {260, 130}; }
QSize ExponentBars::minimumSizeHint() const { return {140, 90}; }

void ExponentBars::paintEvent(QPaintEvent*) {
    const auto* report = model_->report();
    if (report == nullptr || !report->histograms) {
        paintEmpty(this, *theme_,
                   report != nullptr           ? tr("The fault is no output of an operation.")
                   : model_->step() != nullptr ? tr("Exponents of the first non-finite tensor, "
                                                    "once the step is examined.")
                                               : QString());
        return;
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int line = fontMetrics().height();
    Axis axis{QRectF(size::inside, 4, std::max(40, width() - 2 * size::inside),
                     std::max(30, height() - 8 - line))};
    for (int column = 0; column < columns; ++column) {
        for (const auto* each : {&report->histograms->before, &report->histograms->after})
            axis.most =
                std::max(axis.most, std::log2(1.0 + static_cast<double>(countAt(*each, column))));
    }
    axis.most *= 1.3;  // room for the legend
    paintLimits(painter, axis);
    paintBars(painter, axis, *report->histograms);
    paintLegend(painter, axis, *report->histograms);
}

void ExponentBars::paintLimits(QPainter& painter, const Axis& axis) const {
    const Tokens& t = theme_->tokens();
    const auto columnOf = [](int exponent) { return exponent - firstShown; };
    // Shades FP16's subnormals, and what it cannot represent.
    painter.fillRect(QRectF(QPointF(axis.x(columnOf(-24)), axis.plot.top()),
                            QPointF(axis.x(columnOf(-14)), axis.plot.bottom())),
                     blend(t.panel, t.caution, 0.12));
    painter.fillRect(QRectF(QPointF(axis.x(columnOf(16)), axis.plot.top()),
                            QPointF(axis.plot.right(), axis.plot.bottom())),
                     blend(t.panel, t.bad, 0.12));
    painter.setPen(QPen(t.bad, 1.2));
    painter.drawLine(QPointF(axis.x(columnOf(16)), axis.plot.top()),
                     QPointF(axis.x(columnOf(16)), axis.plot.bottom()));
    const auto place = [&](int exponent) { return axis.x(columnOf(exponent)); };
    paintMarksBelow(painter, t, axis.plot, exponentMarks(std::array{-24, -14, -8, 0, 8, 16}, place),
                    width());
}

void ExponentBars::paintBars(QPainter& painter, const Axis& axis,
                             const engine::TensorHistograms& found) const {
    const Tokens& t = theme_->tokens();
    QPainterPath outline(QPointF(axis.plot.left(), axis.plot.bottom()));
    for (int column = 0; column < columns; ++column) {
        const double left = axis.x(column), right = axis.x(column + 1);
        const bool bad = column == columns - 1;
        if (const std::int64_t count = countAt(found.before, column); count > 0)
            painter.fillRect(QRectF(QPointF(left + 0.5, axis.y(count)),
                                    QPointF(right - 0.5, axis.plot.bottom())),
                             bad ? t.bad : blend(t.panel, theme_->run(model_->track()), 0.45));
        const double y = axis.y(countAt(found.after, column));
        outline.lineTo(left, y);
        outline.lineTo(right, y);
    }
    outline.lineTo(axis.plot.right(), axis.plot.bottom());
    painter.setPen(QPen(theme_->run(model_->track()), 1.4));
    painter.drawPath(outline);
}

void ExponentBars::paintLegend(QPainter& painter, const Axis& axis,
                               const engine::TensorHistograms& found) const {
    const Tokens& t = theme_->tokens();
    const int line = fontMetrics().height();
    painter.setPen(t.text);
    const QString before =
        found.in_f32 ? tr("filled: as it was") : tr("filled: at %1").arg(powerOfTwo(found.scale));
    const QString after =
        found.in_f32 ? tr("line: in FP32") : tr("line: at %1").arg(powerOfTwo(found.other_scale));
    painter.drawText(axis.plot.adjusted(4, 0, -4, 0), Qt::AlignLeft | Qt::AlignTop,
                     before + u"   "_s + after);
    if (found.before.non_finite() == 0) return;
    painter.setPen(t.bad);
    painter.drawText(
        axis.plot.adjusted(4, line, -4, 0), Qt::AlignRight | Qt::AlignTop,
        tr("%1 inf, %2 NaN").arg(count(found.before.infinite), count(found.before.nan)));
}

}  // namespace ui
