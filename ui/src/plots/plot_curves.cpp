#include "plots/plot_curves.h"

#include <algorithm>
#include <cmath>

#include "plots/line_plot.h"
#include "plots/plot_axes.h"
#include "plots/plot_link.h"
#include "plots/plot_options.h"
#include "plots/plot_overlay.h"
#include "series/series_pyramid.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr double nearCurve = 12;  // pixels

}  // namespace

std::int64_t PlotCurves::longest() const {
    std::int64_t rows = 0;
    for (const Curve& curve : plot_->content().curves) rows = std::max(rows, curve.data->size());
    return rows;
}

bool PlotCurves::smooths() const {
    return plot_->look().smooth && link_->options()->smoothing() > 0;
}

void PlotCurves::make() {
    plot_->clearGraphs();
    raw_.clear();
    front_.clear();
    bands_.clear();
    const double wide = plot_->look().curveWidth > 0 ? plot_->look().curveWidth : size::smoothCurve;
    for (const Curve& ceiling : plot_->content().ceilings) {
        QCPGraph* band = plot_->addGraph();
        QColor edge = ceiling.color;
        edge.setAlphaF(0.55f);
        QColor fill = ceiling.color;
        fill.setAlphaF(theme_->isDark() ? 0.16f : 0.10f);
        band->setPen(QPen(edge, size::rawCurve));
        band->setBrush(fill);
        bands_.push_back(band);
    }
    for (const Curve& curve : plot_->content().curves) {
        QColor faint = curve.color;
        faint.setAlphaF(static_cast<float>(size::rawOpacity) * (theme_->isDark() ? 1.4f : 1.6f));
        const Qt::PenStyle dash = curve.dashed ? Qt::DashLine : Qt::SolidLine;
        raw_.push_back(plot_->addGraph());
        raw_.back()->setAntialiased(false);
        const double width = plot_->look().smooth ? size::rawCurve : wide;
        raw_.back()->setPen(smooths() ? QPen(faint, size::rawCurve)
                                      : QPen(curve.color, width, dash));
        if (!plot_->look().smooth && !plot_->look().stairs) raw_.back()->setAntialiased(true);
    }
    for (const Curve& curve : plot_->content().curves) {
        front_.push_back(plot_->addGraph());
        front_.back()->setPen(QPen(curve.color, wide, curve.dashed ? Qt::DashLine : Qt::SolidLine));
    }
    for (int i = 0; i < plot_->graphCount(); ++i) plot_->graph(i)->setSelectable(QCP::stNone);
}

bool PlotCurves::fitsContent() const {
    return raw_.size() == plot_->content().curves.size() &&
           bands_.size() == plot_->content().ceilings.size();
}

void PlotCurves::read(PlotScene& scene) {
    scene.labels.clear();
    scene.flaws.clear();
    scene.emptyText = longest() == 0 ? plot_->look().emptyText : QString();
    window_ = 0;
    for (std::size_t i = 0; i < plot_->content().curves.size(); ++i) readCurve(i, scene);
    readBand(scene);
    readLanes(scene);
    readMarks(scene);
}

void PlotCurves::readCurve(std::size_t index, PlotScene& scene) {
    const Curve& curve = plot_->content().curves[index];
    Polyline raw, mean;
    for (const auto& part : axes_->partsInView(curve)) {
        const auto shown = curve.data->columns(part.first, part.last, part.columns);
        const Polyline line = plot_->look().stairs ? stairs(shown) : envelope(shown);
        raw.x += axes_->placed(curve.x, line.x);
        raw.y += line.y;
        auto flaws = curve.gaps ? std::vector<NonFinite>() : nonFinite(shown);
        QVector<double> at;
        for (const auto& flaw : flaws) at << flaw.x;
        at = axes_->placed(curve.x, at);
        for (std::size_t i = 0; i < flaws.size(); ++i) {
            flaws[i].x = at[static_cast<qsizetype>(i)];
            scene.flaws.push_back({flaws[i], curve.color});
        }
        if (smooths()) addMean(curve, part, shown.width, mean);
    }
    // A part may begin a column before its first row, where the part before it ends.
    const bool sorted = !axes_->isLogX();
    raw_[index]->setData(raw.x, raw.y, sorted);
    front_[index]->setData(mean.x, mean.y, sorted);
    readLabel(curve, axes_->rowsInView(curve.x).second, scene);
}

void PlotCurves::addMean(const Curve& curve, const PlotAxes::RowsInView& part, std::int64_t width,
                         Polyline& mean) {
    const std::int64_t window = smoothingWindow(width, link_->options()->smoothing());
    const auto lead = std::max<std::int64_t>(0, part.first - window);
    const auto count =
        std::max<std::int64_t>(1, std::min((part.last - lead) / width, 4 * part.columns));
    const Polyline line =
        trailingMean(curve.data->columns(lead, part.last, count), window,
                     static_cast<double>(part.first), static_cast<double>(part.last));
    mean.x += axes_->placed(curve.x, line.x);
    mean.y += line.y;
    window_ = std::max<qint64>(window_, window);
}

void PlotCurves::readLabel(const Curve& curve, std::int64_t last, PlotScene& scene) const {
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
    scene.labels.push_back(
        {curve.name, curve.color, axes_->xOf(curve.x, static_cast<double>(end)), y});
}

void PlotCurves::readBandLabel(const Curve& ceiling, std::int64_t last, PlotScene& scene) const {
    const std::int64_t end = std::min(last, ceiling.data->size());
    const Bucket tail = ceiling.data->total(end - std::min<std::int64_t>(end, 20), end);
    if (tail.finite == 0) return;
    // In two lines: it is wider than the names of curves, for which there is room.
    for (const QString& line : tr("overflows\nabove").split(u'\n')) {
        scene.labels.push_back({line, theme_->tokens().dim,
                                axes_->xOf(ceiling.x, static_cast<double>(end)),
                                static_cast<double>(tail.mean), true});
    }
}

void PlotCurves::readBand(PlotScene& scene) {
    scene.unknown.clear();
    for (std::size_t i = 0; i < plot_->content().ceilings.size(); ++i) {
        const Curve& ceiling = plot_->content().ceilings[i];
        const std::int64_t last = axes_->rowsInView(ceiling.x).second;
        if (plot_->content().ceilings.size() == 1) readBandLabel(ceiling, last, scene);
        Polyline edge;
        for (const auto& part : axes_->partsInView(ceiling)) {
            const auto shown = bandColumns(ceiling, part);
            const Polyline line = envelope(shown);
            edge.x += axes_->placed(ceiling.x, line.x);
            edge.y += line.y;
            addUnknown(ceiling, shown, scene);
        }
        bands_[i]->setData(edge.x, edge.y, !axes_->isLogX());
    }
}

SeriesPyramid::Columns PlotCurves::bandColumns(const Curve& ceiling,
                                               const PlotAxes::RowsInView& part) {
    std::int64_t columns = std::max<std::int64_t>(fewestColumns, part.columns / 2);
    // A column is at least as wide as the gap between two measured steps, so it is unknown only if
    // no step in it was measured.
    if (ceiling.every > 1) {
        const std::int64_t rows = std::min(part.last, ceiling.data->size()) - part.first;
        columns = std::clamp<std::int64_t>(rows / (2 * ceiling.every), 1, columns);
    }
    return ceiling.data->columns(part.first, part.last, columns);
}

/// A single unknown step is a skip, which the lanes show; a stretch of them is hatched.
void PlotCurves::addUnknown(const Curve& ceiling, const SeriesPyramid::Columns& shown,
                            PlotScene& scene) const {
    std::size_t from = 0;
    for (std::size_t c = 0; c <= shown.buckets.size(); ++c) {
        const bool known = c == shown.buckets.size() || shown.buckets[c].finite > 0;
        if (!known) continue;
        if (c - from >= 3) {
            scene.unknown.push_back(axes_->xOf(ceiling.x, columnX(shown, from)));
            scene.unknown.push_back(axes_->xOf(ceiling.x, columnX(shown, c - 1)));
        }
        from = c + 1;
    }
}

void PlotCurves::readLanes(PlotScene& scene) const {
    scene.lanes.clear();
    bool any = false;
    const std::int64_t selected = link_->selected() - 1;
    const auto run = link_->run();
    for (const Curve& skips : plot_->content().skips) {
        QVector<double> ticks;
        for (const auto& part : axes_->partsInView(skips)) {
            const auto shown = skips.data->columns(part.first, part.last, part.columns);
            for (std::size_t c = 0; c < shown.buckets.size(); ++c) {
                if (shown.buckets[c].finite > 0 && shown.buckets[c].max > 0)
                    ticks << columnX(shown, c);
            }
        }
        if (axes_->isLogX()) std::ranges::sort(ticks);
        ticks = axes_->placed(skips.x, ticks);
        any = any || !ticks.isEmpty();
        const bool one = plot_->content().skips.size() == 1;
        PlotScene::Lane lane{one ? tr("skipped") : skips.name,
                             one ? theme_->tokens().bad : skips.color,
                             {ticks.begin(), ticks.end()}};
        const bool chosen = !run || run == skips.owner;
        if (chosen && selected >= 0 && selected < skips.data->size() &&
            skips.data->total(selected, selected + 1).max > 0) {
            lane.circled = axes_->xOf(skips.x, static_cast<double>(selected + 1));
        }
        scene.lanes.push_back(std::move(lane));
    }
    if (!any) scene.lanes.clear();
}

void PlotCurves::readMarks(PlotScene& scene) const {
    scene.dots.clear();
    for (const RunDot& dot : plot_->content().dots) {
        scene.dots.push_back({axes_->xOf(dot.at.x, dot.at.step), dot.value, dot.color});
    }
    scene.marks.clear();
    for (const RunMark& mark : plot_->content().marks) {
        const double at = mark.level ? mark.value : axes_->xOf(mark.at.x, mark.at.step);
        scene.marks.push_back({at, mark.text, mark.color, mark.dashed, mark.level});
    }
    scene.epochs.clear();
    const RowAxis* reference = link_->options()->reference();
    for (const RunStep& epoch : plot_->content().epochs) {
        // Each run has its own moments at which epochs end: those of all would be a grey wall.
        const bool moments = axes_->xKind() == XKind::time || axes_->xKind() == XKind::clock;
        if (moments && epoch.x != reference) continue;
        scene.epochs.push_back(axes_->xOf(epoch.x, epoch.step));
    }
    scene.bands.clear();
    double before = 0;
    bool second = false;
    for (const RunStep& epoch : plot_->content().epochs) {
        if (epoch.x != reference) continue;
        const double end = axes_->xOf(epoch.x, epoch.step);
        if (second) scene.bands.emplace_back(before, end);
        before = end;
        second = !second;
    }
}

void PlotCurves::countClipped(PlotScene& scene) const {
    scene.above.clear();
    scene.below.clear();
    const auto range = plot_->yAxis->range();
    const XKind kind = axes_->xKind();
    Beyond beyond;
    for (const Curve& curve : plot_->content().curves) {
        // The range is that of the steps in view alone: rowsInView() has one more on each side.
        const QCPRange steps = plot_->xAxis->range();
        const double low = curve.x != nullptr ? curve.x->stepAt(kind, steps.lower) : steps.lower;
        const double high = curve.x != nullptr ? curve.x->stepAt(kind, steps.upper) : steps.upper;
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
    scene.above = words(beyond.above, true);
    scene.below = words(beyond.below, false);
}

std::shared_ptr<const void> PlotCurves::runAt(const QPointF& pixel) const {
    const double x = plot_->xAxis->pixelToCoord(pixel.x());
    double nearest = nearCurve;
    std::shared_ptr<const void> found;
    for (std::size_t i = 0; i < plot_->content().curves.size(); ++i) {
        const QCPGraph* shown = smooths() ? front_[i] : raw_[i];
        const auto point = shown->data()->findBegin(x);
        if (point == shown->data()->constEnd()) continue;
        const double distance = std::abs(plot_->yAxis->coordToPixel(point->value) - pixel.y());
        if (!(distance <= nearest)) continue;
        nearest = distance;
        found = plot_->content().curves[i].owner;
    }
    return found;
}

}  // namespace ui
