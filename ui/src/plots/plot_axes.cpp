#include "plots/plot_axes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plots/line_plot.h"
#include "plots/plot_link.h"
#include "plots/plot_options.h"
#include "plots/plot_overlay.h"
#include "series/series_pyramid.h"
#include "theme/tokens.h"

namespace ui {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr int labelPitch = 26;   // pixels between the middles of two labels on the y axis
constexpr int xLabelPitch = 56;  // on the x axis
constexpr int marginStep = 8;    // margins change in strides, not with every label

QCPRange roundRange(double low, double high, AxisKind kind) {
    const engine::AxisRange range = engine::round_axis(low, high, kind).range;
    return {range.low, range.high};
}

}  // namespace

void PlotAxes::applyX() {
    const XKind kind = link_->options()->x();
    const bool log = link_->options()->logX();
    if (xTicker_ && kind == x_ && log == logX_) return;
    x_ = kind;
    logX_ = log;
    plot_->xAxis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    xTicker_ = QSharedPointer<AxisTicker>::create(log ? AxisKind::log : axisKind(kind));
    plot_->xAxis->setTicker(xTicker_);
}

void PlotAxes::setValues(AxisKind kind) {
    y_ = kind;
    plot_->yAxis->setScaleType(engine::Axis{kind, {}}.is_log() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    yTicker_ = QSharedPointer<AxisTicker>::create(kind);
    plot_->yAxis->setTicker(yTicker_);
    release();
}

double PlotAxes::xOf(const RowAxis* run, double step) const {
    return run != nullptr ? run->at(x_, step) : step;
}

QVector<double> PlotAxes::placed(const RowAxis* run, QVector<double> steps) const {
    if (run != nullptr) run->map(x_, steps);
    return steps;
}

std::int64_t PlotAxes::stepOf(const RowAxis* run, double x) const {
    return std::llround(run != nullptr ? run->stepAt(x_, x) : x);
}

std::pair<std::int64_t, std::int64_t> PlotAxes::rowsInView(const RowAxis* run) const {
    const QCPRange range = plot_->xAxis->range();
    const double low = run != nullptr ? run->stepAt(x_, range.lower) : range.lower;
    const double high = run != nullptr ? run->stepAt(x_, range.upper) : range.upper;
    return {static_cast<std::int64_t>(std::max(0.0, std::floor(low) - 1)),
            static_cast<std::int64_t>(std::ceil(high) + 1)};
}

std::int64_t PlotAxes::columnsFor(const Curve& curve) const {
    const auto [first, last] = rowsInView(curve.x);
    const QCPRange range = plot_->xAxis->range();
    const double from = std::max(range.lower, xOf(curve.x, static_cast<double>(first)));
    const double to = xOf(curve.x, static_cast<double>(std::min(last, curve.data->size() + 1)));
    const double share = std::clamp((to - from) / range.size(), 0.0, 1.0);
    const double pixels = std::max(fewestColumns, plot_->axisRect()->width());
    return std::max<std::int64_t>(fewestColumns, static_cast<std::int64_t>(pixels * share));
}

std::vector<PlotAxes::RowsInView> PlotAxes::partsInView(const Curve& curve) const {
    const auto [first, last] = rowsInView(curve.x);
    if (!logX_) return {{first, last, columnsFor(curve)}};
    const QCPRange range = plot_->xAxis->range();
    const double octave =
        plot_->axisRect()->width() / std::max(1.0, std::log2(range.upper / range.lower));
    const auto columns = std::max<std::int64_t>(fewestColumns, std::llround(octave));
    std::vector<RowsInView> out;
    std::int64_t from = first;
    for (double edge = 2 * range.lower; from < last; edge *= 2) {
        const bool end = edge >= range.upper;
        const std::int64_t to = end ? last : std::clamp(stepOf(curve.x, edge), from, last);
        if (to > from) out.push_back({from, to, columns});
        from = to;
        if (end) break;
    }
    return out;
}

void PlotAxes::fitSteps() {
    applyX();  // the runs decide whether there is a clock
    const auto [low, high] = link_->options()->visible();
    plot_->xAxis->setRange(low, high);
}

void PlotAxes::fitTickers() {
    yTicker_->setMostLabels(plot_->axisRect()->height() / labelPitch);
    xTicker_->setMostLabels(plot_->axisRect()->width() / xLabelPitch);
}

void PlotAxes::showRanges(bool values) {
    // The range of a share is known before the first one is measured.
    const bool y = values || y_ == AxisKind::share;
    plot_->yAxis->setTickLabels(y);
    plot_->yAxis->grid()->setVisible(y);
    const bool x = link_->end() > 0;
    plot_->xAxis->setTickLabels(x);
    plot_->xAxis->grid()->setVisible(x);
}

void PlotAxes::fitValues(const PlotScene& scene) {
    fitTickers();
    Bucket all;
    for (const auto* set : {&plot_->content().curves, &plot_->content().ceilings}) {
        for (const Curve& curve : *set) {
            const auto [first, last] = rowsInView(curve.x);
            all.add(curve.data->total(first, last));
        }
    }
    showRanges(all.finite > 0);
    if (const auto values = link_->values(plot_)) {
        plot_->yAxis->setRange(values->first, values->second);
        holding_ = false;
        return;
    }
    QCPRange range = roundRange(all.finite > 0 ? static_cast<double>(all.min) : none,
                                all.finite > 0 ? static_cast<double>(all.max) : none, y_);
    // While everything is shown the range only grows, starting from that of the empty plot if the
    // data begin within it, so that curves do not jump.
    if (!holding_ && y_ == AxisKind::log) {
        const QCPRange empty = roundRange(none, none, y_);
        held_ = empty.lower < range.upper && range.lower < empty.upper ? empty : range;
        holding_ = true;
    }
    if (holding_ && link_->fitted()) range.expand(held_);
    held_ = range;
    holding_ = all.finite > 0;
    plot_->yAxis->setRange(aboveLanes(range, scene));
}

/// Room for the lanes of skips below the curves. It follows the height of the plot, so it is no
/// part of the range that is held: a plot that was small for a moment would keep it for good.
QCPRange PlotAxes::aboveLanes(QCPRange range, const PlotScene& scene) const {
    if (y_ != AxisKind::log2 || scene.lanes.empty()) return range;
    const int height = plot_->axisRect()->height();
    const double share =
        std::min(0.5, lanesHeight(scene, height) / static_cast<double>(std::max(1, height)));
    const double span = std::log2(range.upper / range.lower) - 1;
    range.lower *= std::exp2(1 - std::ceil(span * share / (1 - share)));
    return range;
}

void PlotAxes::makeRoom(const PlotScene& scene, bool picture) {
    const QFontMetrics metrics(scene.font);
    int right = 0;
    for (const auto& label : scene.labels) {
        right = std::max(right, metrics.horizontalAdvance(label.text));
    }
    for (const auto& lane : scene.lanes) {
        right = std::max(right, metrics.horizontalAdvance(lane.name));
    }
    right = right > 0 ? right + size::inside : 2 * size::gap;
    QVector<double> ticks;
    QVector<QString> texts;
    yTicker_->generate(plot_->yAxis->range(), plot_->locale(), u'g', 6, ticks, nullptr, &texts);
    int left = 0;
    for (const QString& text : texts) left = std::max(left, metrics.horizontalAdvance(text));
    left = (left + 2 * size::gap + marginStep - 1) / marginStep * marginStep;
    if (plot_->isVisible() || picture) link_->options()->need(plot_, {left, right});
    const auto common = link_->options()->common();
    QMargins margins = plot_->axisRect()->margins();
    if (!picture) margins.setLeft(std::max(left, common.left));
    margins.setRight(std::min(std::max(right, common.right), plot_->width() / 3));
    if (margins != plot_->axisRect()->margins()) plot_->axisRect()->setMargins(margins);
}

}  // namespace ui
