#include "benchmarks/pair_bars.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/train/batch_finder.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr double names = 96, between = 16, beside = 6, labels = 118;
constexpr double shortest = 24, longest = 360;  // bars

}  // namespace

BarColumns barColumns(int width) {
    BarColumns out{names, {}};
    const double each = std::min((width - names - 3 * between) / 3, longest + beside + labels);
    double left = names + between;
    for (auto& column : out.columns) {
        const double bar = std::max(shortest, each - labels - beside);
        column = {left, bar, left + bar + beside, std::max(0.0, each - bar - beside)};
        left += each + between;
    }
    return out;
}

namespace {

constexpr double thick = 8;  // of a bar
constexpr int narrowest = 560;

double ratioOf(std::int64_t other, std::int64_t fp32) {
    return fp32 > 0 ? static_cast<double>(other) / static_cast<double>(fp32)
                    : std::numeric_limits<double>::quiet_NaN();
}

BarPair speedOf(const engine::Speedup& row) {
    return {row.speed_up, milliseconds(row.fp32_ms), milliseconds(row.amp_ms)};
}
BarPair memoryOf(const engine::Speedup& row) {
    return {ratioOf(row.amp_bytes, row.fp32_bytes), bytes(row.fp32_bytes), bytes(row.amp_bytes)};
}
BarPair batchOf(const engine::Speedup& row) {
    if (row.batch_memory == 0) return {ratioOf(0, 0), unmeasured(), unmeasured()};
    BarPair pair{ratioOf(row.largest_batch, row.fp32_largest_batch),
                 batchText(row.fp32_largest_batch), batchText(row.largest_batch)};
    pair.atLeast = row.largest_batch >= engine::max_batch_tried;
    // Both searches ended at their limit: nothing is known of the ratio.
    if (row.fp32_largest_batch >= engine::max_batch_tried) pair.ratio = ratioOf(0, 0);
    return pair;
}

void widen(double& most, double ratio) {
    if (std::isfinite(ratio)) most = std::max(most, ratio);
}

}  // namespace

void BarScale::include(const engine::Speedup& row) {
    widen(speed, speedOf(row).ratio);
    widen(memory, memoryOf(row).ratio);
    widen(batch, batchOf(row).ratio);
}

PairBars::PairBars(const Theme* theme, const engine::Speedup& row, const BarScale& scale,
                   bool withFp32, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      withFp32_(withFp32),
      precision_(row.precision),
      pairs_{speedOf(row), memoryOf(row), batchOf(row)},
      most_{scale.speed, scale.memory, scale.batch} {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("%1 against FP32: a step takes %2 instead of %3, peak memory is %4 "
                         "instead of %5, the largest batch %6 instead of %7.")
                          .arg(precisionTitle(precision_), pairs_[0].other, pairs_[0].fp32,
                               pairs_[1].other, pairs_[1].fp32, pairs_[2].other, pairs_[2].fp32));
}

QSize PairBars::sizeHint() const {
    const int line = fontMetrics().height();
    return {900, withFp32_ ? 2 * line + size::grid : line};
}
QSize PairBars::minimumSizeHint() const { return {narrowest, sizeHint().height()}; }

void PairBars::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    const QFontMetrics metrics = fontMetrics();
    const double line = withFp32_ ? (height() - size::grid) / 2.0 : height();
    const double second = withFp32_ ? line + size::grid : 0;
    const BarColumns at = barColumns(width());
    const QColor color = theme_->precision(precision_);
    const auto write = [&](const QRectF& area, const QString& text, const QColor& ink, bool bold) {
        painter.setFont(bold ? Theme::bold() : font());
        painter.setPen(ink);
        painter.drawText(
            area, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(area.width())));
    };
    if (withFp32_) write({0, 0, at.nameWidth, line}, u"FP32"_s, t.dim, false);
    write({0, second, at.nameWidth, line}, precisionTitle(precision_), t.text, true);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const BarPair& pair = pairs_[i];
        const auto& column = at.columns[i];
        if (withFp32_) write({column.label, 0, column.labelWidth, line}, pair.fp32, t.dim, false);
        const bool known = std::isfinite(pair.ratio);
        write({column.label, second, column.labelWidth, line}, pair.other, t.text, false);
        if (!known) continue;
        const double one = column.barWidth / most_[i];
        const auto bar = [&](double top, double length, const QColor& fill) {
            painter.fillRect(
                QRectF(column.bar, top + (line - thick) / 2, std::max(1.0, length), thick), fill);
        };
        if (withFp32_) bar(0, one, t.fp32);
        bar(second, one * pair.ratio, color);
        painter.setPen(QPen(t.dim, 1, Qt::DotLine));
        painter.drawLine(QPointF(column.bar + one, 1), QPointF(column.bar + one, height() - 1));
        const double told = metrics.horizontalAdvance(pair.other + u"  "_s);
        write({column.label + told, second, std::max(0.0, column.labelWidth - told), line},
              (pair.atLeast ? u"≥ "_s : QString()) + timesText(pair.ratio), t.text, true);
    }
}

BarHeads::BarHeads(const Theme* theme, std::int64_t batchMemory, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      titles_{tr("Speed, and time of a step"), tr("Peak memory"),
              batchMemory > 0 ? tr("Largest batch in %1").arg(bytes(batchMemory))
                              : tr("Largest batch")},
      notes_{tr("longer is faster"), tr("shorter is better"), tr("longer is better")} {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize BarHeads::sizeHint() const {
    return {900, fontMetrics().height() + QFontMetrics(Theme::caption()).height()};
}
QSize BarHeads::minimumSizeHint() const { return {narrowest, sizeHint().height()}; }

void BarHeads::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    const double line = fontMetrics().height();
    const BarColumns at = barColumns(width());
    for (std::size_t i = 0; i < titles_.size(); ++i) {
        const auto& column = at.columns[i];
        const double wide = column.label + column.labelWidth - column.bar;
        const auto write = [&](double top, double high, const QString& text) {
            painter.drawText(
                QRectF(column.bar, top, wide, high), Qt::AlignLeft | Qt::AlignVCenter,
                painter.fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(wide)));
        };
        painter.setFont(Theme::bold());
        painter.setPen(t.text);
        write(0, line, titles_[i]);
        painter.setFont(Theme::caption());
        painter.setPen(t.dim);
        write(line, height() - line, notes_[i]);
    }
}

}  // namespace ui
