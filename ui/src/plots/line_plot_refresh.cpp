// Reads the series for a plot before each paint.
#include <cmath>

#include "plots/line_plot.h"
#include "plots/plot_options.h"
#include "series/series_pyramid.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr int labelPitch = 26;   // pixels between the middles of two labels on the y axis
constexpr int xLabelPitch = 56;  // on the x axis
constexpr int marginStep = 8;    // margins change in strides, not with every label
constexpr int fewestColumns = 16;

}  // namespace

std::int64_t LinePlot::longest() const {
    std::int64_t rows = 0;
    for (const Curve& curve : content_.curves) rows = std::max(rows, curve.data->size());
    return rows;
}

double LinePlot::xOf(const RowAxis* run, double step) const {
    return run != nullptr ? run->at(x_, step) : step;
}

QVector<double> LinePlot::placed(const RowAxis* run, QVector<double> steps) const {
    if (run != nullptr) run->map(x_, steps);
    return steps;
}

std::int64_t LinePlot::stepOf(const RowAxis* run, double x) const {
    return std::llround(run != nullptr ? run->stepAt(x_, x) : x);
}

std::pair<std::int64_t, std::int64_t> LinePlot::rowsInView(const RowAxis* run) const {
    const QCPRange range = xAxis->range();
    const double low = run != nullptr ? run->stepAt(x_, range.lower) : range.lower;
    const double high = run != nullptr ? run->stepAt(x_, range.upper) : range.upper;
    return {static_cast<std::int64_t>(std::max(0.0, std::floor(low) - 1)),
            static_cast<std::int64_t>(std::ceil(high) + 1)};
}

std::int64_t LinePlot::columnsFor(const Curve& curve) const {
    const auto [first, last] = rowsInView(curve.x);
    const QCPRange range = xAxis->range();
    const double from = std::max(range.lower, xOf(curve.x, static_cast<double>(first)));
    const double to = xOf(curve.x, static_cast<double>(std::min(last, curve.data->size() + 1)));
    const double share = std::clamp((to - from) / range.size(), 0.0, 1.0);
    const double pixels = std::max(fewestColumns, axisRect()->width());
    return std::max<std::int64_t>(fewestColumns, static_cast<std::int64_t>(pixels * share));
}

void LinePlot::refresh() {
    applyXAxis();  // the runs decide whether there is a clock
    const auto [low, high] = link_->options()->visible();
    xAxis->setRange(low, high);
    scene_.labels.clear();
    scene_.flaws.clear();
    scene_.emptyText = longest() == 0 ? look_.emptyText : QString();
    const qint64 before = std::exchange(window_, 0);
    for (std::size_t i = 0; i < content_.curves.size(); ++i) refreshCurve(i);
    if (window_ != before) emit smoothingChanged(window_);
    refreshBand();
    refreshLanes();
    refreshMarks();
    fitTickers();
    fitY();
    countClipped();
    makeRoomForNames();
    updateCrosshair();
    describe();
}

void LinePlot::refreshCurve(std::size_t index) {
    const Curve& curve = content_.curves[index];
    const auto [first, last] = rowsInView(curve.x);
    const std::int64_t wanted = columnsFor(curve);
    const auto shown = curve.data->columns(first, last, wanted);
    const Polyline line = look_.stairs ? stairs(shown) : envelope(shown);
    raw_[index]->setData(placed(curve.x, line.x), line.y, true);
    auto flaws = curve.gaps ? std::vector<NonFinite>() : nonFinite(shown);
    QVector<double> at;
    for (const auto& flaw : flaws) at << flaw.x;
    at = placed(curve.x, at);
    for (std::size_t i = 0; i < flaws.size(); ++i) {
        flaws[i].x = at[static_cast<qsizetype>(i)];
        scene_.flaws.push_back({flaws[i], curve.color});
    }
    if (smooths()) {
        refreshMean(index, wanted, shown.width);
    } else {
        front_[index]->data()->clear();
    }
    refreshLabel(curve, last);
}

void LinePlot::refreshMean(std::size_t index, std::int64_t wanted, std::int64_t width) {
    const Curve& curve = content_.curves[index];
    const auto [first, last] = rowsInView(curve.x);
    const std::int64_t window = smoothingWindow(width, link_->options()->smoothing());
    const auto lead = std::max<std::int64_t>(0, first - window);
    const auto count = (last - lead) / width;
    const Polyline mean = trailingMean(
        curve.data->columns(lead, last, std::max<std::int64_t>(1, std::min(count, 4 * wanted))),
        window, static_cast<double>(first), static_cast<double>(last));
    front_[index]->setData(placed(curve.x, mean.x), mean.y, true);
    window_ = std::max<qint64>(window_, window);
}

void LinePlot::refreshLabel(const Curve& curve, std::int64_t last) {
    const std::int64_t end = std::min(last, curve.data->size());
    if (end == 0 || curve.name.isEmpty()) return;
    const auto window = smooths() ? std::max<std::int64_t>(1, window_) : 1;
    // From the start of a bucket; otherwise old rows would have to be read from the disk.
    std::int64_t begin = std::max<std::int64_t>(0, end - window);
    if (window > curve.data->base()) begin -= begin % curve.data->base();
    Bucket tail = curve.data->total(begin, end);
    double y = static_cast<double>(smooths() ? tail.mean : tail.last);
    if (tail.finite == 0) {
        // Diverged: its name stays at the height of its last finite value.
        tail = curve.data->total(0, end);
        y = static_cast<double>(tail.last);
    }
    if (tail.finite == 0) return;
    scene_.labels.push_back({curve.name, curve.color, xOf(curve.x, static_cast<double>(end)), y});
}

void LinePlot::refreshBandLabel(const Curve& ceiling, std::int64_t last) {
    const std::int64_t end = std::min(last, ceiling.data->size());
    const Bucket tail = ceiling.data->total(end - std::min<std::int64_t>(end, 20), end);
    if (tail.finite == 0) return;
    // In two lines: it is wider than the names of curves, for which there is room.
    for (const QString& line : tr("overflows\nabove").split(u'\n')) {
        scene_.labels.push_back({line, theme_->tokens().dim,
                                 xOf(ceiling.x, static_cast<double>(end)),
                                 static_cast<double>(tail.mean), true});
    }
}

void LinePlot::refreshBand() {
    scene_.unknown.clear();
    for (std::size_t i = 0; i < content_.ceilings.size(); ++i) {
        const Curve& ceiling = content_.ceilings[i];
        const auto [first, last] = rowsInView(ceiling.x);
        if (content_.ceilings.size() == 1) refreshBandLabel(ceiling, last);
        std::int64_t columns = std::max<std::int64_t>(fewestColumns, columnsFor(ceiling) / 2);
        // A column is at least as wide as the gap between two measured steps, so it is unknown only
        // if no step in it was measured.
        if (ceiling.every > 1) {
            const std::int64_t rows = std::min(last, ceiling.data->size()) - first;
            columns = std::clamp<std::int64_t>(rows / (2 * ceiling.every), 1, columns);
        }
        const auto shown = ceiling.data->columns(first, last, columns);
        const Polyline edge = envelope(shown);
        bands_[i]->setData(placed(ceiling.x, edge.x), edge.y, true);
        // A single unknown step is a skip, which the lanes show; a stretch of them is hatched.
        std::size_t from = 0;
        for (std::size_t c = 0; c <= shown.buckets.size(); ++c) {
            const bool known = c == shown.buckets.size() || shown.buckets[c].finite > 0;
            if (!known) continue;
            if (c - from >= 3) {
                scene_.unknown.push_back(xOf(ceiling.x, columnX(shown, from)));
                scene_.unknown.push_back(xOf(ceiling.x, columnX(shown, c - 1)));
            }
            from = c + 1;
        }
    }
}

void LinePlot::refreshLanes() {
    scene_.lanes.clear();
    bool any = false;
    const std::int64_t selected = link_->selected() - 1;
    const auto run = link_->run();
    for (const Curve& skips : content_.skips) {
        const auto [first, last] = rowsInView(skips.x);
        const auto shown = skips.data->columns(first, last, columnsFor(skips));
        QVector<double> ticks;
        for (std::size_t c = 0; c < shown.buckets.size(); ++c) {
            if (shown.buckets[c].finite > 0 && shown.buckets[c].max > 0) {
                ticks << columnX(shown, c);
            }
        }
        ticks = placed(skips.x, ticks);
        any = any || !ticks.isEmpty();
        const bool one = content_.skips.size() == 1;
        PlotScene::Lane lane{one ? tr("skipped") : skips.name,
                             one ? theme_->tokens().bad : skips.color,
                             {ticks.begin(), ticks.end()}};
        const bool chosen = !run || run == skips.owner;
        if (chosen && selected >= 0 && selected < skips.data->size() &&
            skips.data->total(selected, selected + 1).max > 0) {
            lane.circled = xOf(skips.x, static_cast<double>(selected + 1));
        }
        scene_.lanes.push_back(std::move(lane));
    }
    if (!any) scene_.lanes.clear();
}

void LinePlot::refreshMarks() {
    scene_.dots.clear();
    for (const RunDot& dot : content_.dots) {
        scene_.dots.push_back({xOf(dot.at.x, dot.at.step), dot.value, dot.color});
    }
    scene_.marks.clear();
    for (const RunMark& mark : content_.marks) {
        const double at = mark.level ? mark.value : xOf(mark.at.x, mark.at.step);
        scene_.marks.push_back({at, mark.text, mark.color, mark.dashed, mark.level});
    }
    scene_.epochs.clear();
    const RowAxis* reference = link_->options()->reference();
    for (const RunStep& epoch : content_.epochs) {
        // Each run has its own moments at which epochs end: those of all would be a grey wall.
        const bool moments = x_ == XKind::time || x_ == XKind::clock;
        if (moments && epoch.x != reference) continue;
        scene_.epochs.push_back(xOf(epoch.x, epoch.step));
    }
}

void LinePlot::makeRoomForNames() {
    const QFontMetrics metrics(scene_.font);
    int right = 0;
    for (const auto& label : scene_.labels) {
        right = std::max(right, metrics.horizontalAdvance(label.text));
    }
    for (const auto& lane : scene_.lanes) {
        right = std::max(right, metrics.horizontalAdvance(lane.name));
    }
    right = right > 0 ? right + size::inside : 2 * size::gap;
    QVector<double> ticks;
    QVector<QString> texts;
    yTicker_->generate(yAxis->range(), locale(), u'g', 6, ticks, nullptr, &texts);
    int left = 0;
    for (const QString& text : texts) left = std::max(left, metrics.horizontalAdvance(text));
    left = (left + 2 * size::gap + marginStep - 1) / marginStep * marginStep;
    if (isVisible() || picture_) link_->options()->need(this, {left, right});
    const auto common = link_->options()->common();
    QMargins margins = axisRect()->margins();
    if (!picture_) margins.setLeft(std::max(left, common.left));
    margins.setRight(std::min(std::max(right, common.right), width() / 3));
    if (margins != axisRect()->margins()) axisRect()->setMargins(margins);
}

void LinePlot::fitTickers() {
    yTicker_->setMostLabels(axisRect()->height() / labelPitch);
    xTicker_->setMostLabels(axisRect()->width() / xLabelPitch);
}

void LinePlot::showRanges(bool values) {
    // The range of a share is known before the first one is measured.
    const bool y = values || look_.axis == AxisKind::share;
    yAxis->setTickLabels(y);
    yAxis->grid()->setVisible(y);
    const bool x = link_->end() > 0;
    xAxis->setTickLabels(x);
    xAxis->grid()->setVisible(x);
}

void LinePlot::countClipped() {
    scene_.above.clear();
    scene_.below.clear();
    const auto range = yAxis->range();
    Beyond beyond;
    for (const Curve& curve : content_.curves) {
        // The range is that of the steps in view alone: rowsInView() has one more on each side.
        const QCPRange steps = xAxis->range();
        const double low = curve.x != nullptr ? curve.x->stepAt(x_, steps.lower) : steps.lower;
        const double high = curve.x != nullptr ? curve.x->stepAt(x_, steps.upper) : steps.upper;
        beyond.add(countBeyond(*curve.data, static_cast<std::int64_t>(std::ceil(low)) - 1,
                               static_cast<std::int64_t>(std::floor(high)), range.lower,
                               range.upper));
    }
    const auto words = [&](std::int64_t points, bool above) {
        if (points == 0) return QString();
        if (points == 1 && beyond.all) return above ? tr("1 point above") : tr("1 point below");
        const QString number = beyond.all ? count(points) : u"≥ "_s + count(points);
        return (above ? tr("%1 points above") : tr("%1 points below")).arg(number);
    };
    scene_.above = words(beyond.above, true);
    scene_.below = words(beyond.below, false);
}

void LinePlot::fitY() {
    Bucket all;
    for (const auto* set : {&content_.curves, &content_.ceilings}) {
        for (const Curve& curve : *set) {
            const auto [first, last] = rowsInView(curve.x);
            all.add(curve.data->total(first, last));
        }
    }
    showRanges(all.finite > 0);
    if (const auto values = link_->values(this)) {
        yAxis->setRange(values->first, values->second);
        holding_ = false;
        return;
    }
    QCPRange range = roundRange(all.finite > 0 ? static_cast<double>(all.min) : none,
                                all.finite > 0 ? static_cast<double>(all.max) : none, look_.axis);
    // While everything is shown the range only grows, starting from that of the empty plot if the
    // data begin within it, so that curves do not jump.
    if (!holding_ && look_.axis == AxisKind::log) {
        const QCPRange empty = roundRange(none, none, look_.axis);
        held_ = empty.lower < range.upper && range.lower < empty.upper ? empty : range;
        holding_ = true;
    }
    if (holding_ && link_->fitted()) range.expand(held_);
    held_ = range;
    holding_ = all.finite > 0;
    yAxis->setRange(aboveLanes(range));
}

/// Room for the lanes of skips below the curves. It follows the height of the plot, so it is no
/// part of the range that is held: a plot that was small for a moment would keep it for good.
QCPRange LinePlot::aboveLanes(QCPRange range) const {
    if (look_.axis != AxisKind::log2 || scene_.lanes.empty()) return range;
    const double height = std::max(1, axisRect()->height());
    const double share = std::min(0.5, lanesHeight(scene_, axisRect()->height()) / height);
    const double span = std::log2(range.upper / range.lower) - 1;
    range.lower *= std::exp2(1 - std::ceil(span * share / (1 - share)));
    return range;
}

}  // namespace ui
