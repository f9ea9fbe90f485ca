#include "plots/line_plot.h"

#include <QSvgGenerator>
#include <cmath>

#include "text/format.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

LinePlot::LinePlot(Theme* theme, PlotLink* link, PaintScheduler* scheduler, QWidget* parent)
    : QCustomPlot(parent), theme_(theme), link_(link), scheduler_(scheduler) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(150, 96);
    // Without it a dense curve wider than a pixel is two orders of magnitude slower.
    setPlottingHint(QCP::phFastPolylines, true);
    xAxis->setTicker(makeStepTicker());
    axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom);
    axisRect()->setMargins(QMargins(8, 10, size::inside, 4));
    new SceneBack(this, &scene_);
    new SceneFront(this, &scene_);
    new SceneCrosshair(this, &scene_);
    scheduler_->add(this);
    connect(link_, &PlotLink::rangeChanged, this, [this] {
        holding_ = false;
        dataGrew();
    });
    connect(link_, &PlotLink::crosshairChanged, this, &LinePlot::updateCrosshair);
    connect(link_, &PlotLink::selectedChanged, this, &LinePlot::dataGrew);
    connect(theme_, &Theme::changed, this, [this] {
        dress();
        dataGrew();
    });
    dress();
}

LinePlot::~LinePlot() { scheduler_->remove(this); }

void LinePlot::dress() {
    const Tokens& t = theme_->tokens();
    scene_.tokens = t;
    setBackground(QBrush(t.panel));
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(QPen(t.line, 1));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(t.dim);
        axis->setTickLabelFont(Theme::caption());
        axis->setTickLabelPadding(6);
        axis->grid()->setPen(QPen(t.grid, 1));
        axis->grid()->setZeroLinePen(QPen(t.grid, 1));
        axis->grid()->setAntialiased(false);
    }
    showFocus();
    makeGraphs();
}

void LinePlot::showFocus() {
    const QColor focused = blend(theme_->tokens().panel, theme_->tokens().accent, 0.04);
    axisRect()->setBackground(hasFocus() ? QBrush(focused) : QBrush(Qt::NoBrush));
}

void LinePlot::setLook(PlotLook look) {
    look_ = std::move(look);
    const bool log = look_.axis == AxisKind::log || look_.axis == AxisKind::log2;
    yAxis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    yAxis->setTicker(makeTicker(look_.axis));
    setAccessibleName(look_.title);
    holding_ = false;
    makeGraphs();
    dataGrew();
}

void LinePlot::setContent(PlotContent content) {
    const bool sameCurves =
        content.curves.size() == content_.curves.size() &&
        std::equal(content.curves.begin(), content.curves.end(), content_.curves.begin(),
                   [](const Curve& a, const Curve& b) {
                       return a.data == b.data && a.color == b.color && a.dashed == b.dashed;
                   });
    content_ = std::move(content);
    if (!sameCurves || bands_.size() != content_.ceilings.size()) {
        holding_ = false;
        makeGraphs();
    }
    dataGrew();
}

void LinePlot::makeGraphs() {
    clearGraphs();
    raw_.clear();
    front_.clear();
    bands_.clear();
    for (const Curve& ceiling : content_.ceilings) {
        QCPGraph* band = addGraph();
        QColor edge = ceiling.color;
        edge.setAlphaF(0.55f);
        QColor fill = ceiling.color;
        fill.setAlphaF(theme_->isDark() ? 0.16f : 0.10f);
        band->setPen(QPen(edge, size::rawCurve));
        band->setBrush(fill);
        bands_.push_back(band);
    }
    for (const Curve& curve : content_.curves) {
        QColor faint = curve.color;
        faint.setAlphaF(static_cast<float>(size::rawOpacity) * (theme_->isDark() ? 1.4f : 1.6f));
        const Qt::PenStyle dash = curve.dashed ? Qt::DashLine : Qt::SolidLine;
        raw_.push_back(addGraph());
        raw_.back()->setAntialiased(false);
        raw_.back()->setPen(look_.smooth ? QPen(faint, size::rawCurve)
                                         : QPen(curve.color, size::smoothCurve, dash));
        if (!look_.smooth && !look_.stairs) raw_.back()->setAntialiased(true);
    }
    for (const Curve& curve : content_.curves) {
        front_.push_back(addGraph());
        front_.back()->setPen(
            QPen(curve.color, size::smoothCurve, curve.dashed ? Qt::DashLine : Qt::SolidLine));
    }
    for (int i = 0; i < graphCount(); ++i) graph(i)->setSelectable(QCP::stNone);
}

void LinePlot::dataGrew() {
    // The first points do not wait for the budget: nothing was to be seen until now.
    if (!scene_.emptyText.isEmpty() && longest() > 0) scheduler_->touch();
    scheduler_->request(this);
}

bool LinePlot::visible() const {
    return isVisible() && !window()->isMinimized() && window()->windowHandle() != nullptr &&
           window()->windowHandle()->isExposed() && !visibleRegion().isEmpty();
}

void LinePlot::paintNow() {
    refresh();
    painted_ = longest();
    setUpdatesEnabled(false);  // until present()
    replot(QCustomPlot::rpQueuedRefresh);
}

void LinePlot::present() { setUpdatesEnabled(true); }

std::int64_t LinePlot::longest() const {
    std::int64_t rows = 0;
    for (const Curve& curve : content_.curves) rows = std::max(rows, curve.data->size());
    return rows;
}

void LinePlot::refresh() {
    xAxis->setRange(link_->low(), std::max(link_->high(), link_->low() + 1));
    const auto first = static_cast<std::int64_t>(std::max(0.0, std::floor(link_->low()) - 1));
    const auto last = static_cast<std::int64_t>(std::ceil(link_->high()) + 1);
    scene_.labels.clear();
    scene_.flaws.clear();
    scene_.epochs = content_.epochs;
    scene_.dots = content_.dots;
    scene_.emptyText = longest() == 0 ? look_.emptyText : QString();
    for (std::size_t i = 0; i < content_.curves.size(); ++i) refreshCurve(i, first, last);
    refreshBand(first, last);
    refreshRug(first, last);
    makeRoomForNames();
    fitY(first, last);
    updateCrosshair();
    describe();
}

void LinePlot::refreshCurve(std::size_t index, std::int64_t first, std::int64_t last) {
    const Curve& curve = content_.curves[index];
    const auto pixels = std::max(16, axisRect()->width());
    const double columnsAcross =
        pixels * std::min(1.0, (static_cast<double>(curve.data->size()) + 1) / (link_->high() + 1));
    const auto wanted = static_cast<std::int64_t>(std::max(16.0, columnsAcross));
    const auto shown = curve.data->columns(first, last, wanted);
    const Polyline line = look_.stairs ? stairs(shown) : envelope(shown);
    raw_[index]->setData(line.x, line.y, true);
    for (const auto& flaw : nonFinite(shown)) scene_.flaws.push_back({flaw, curve.color});
    if (look_.smooth) {
        const std::int64_t window = smoothingWindow(shown.width);
        const auto lead = std::max<std::int64_t>(0, first - window);
        const auto count = (last + window - lead) / shown.width;
        const Polyline mean =
            centredMean(curve.data->columns(lead, last + window,
                                            std::max<std::int64_t>(1, std::min(count, 4 * wanted))),
                        window, static_cast<double>(first), static_cast<double>(last));
        front_[index]->setData(mean.x, mean.y, true);
        if (window != window_) emit smoothingChanged(window_ = window);
    } else {
        front_[index]->data()->clear();
    }
    refreshLabel(curve, last);
}

void LinePlot::refreshLabel(const Curve& curve, std::int64_t last) {
    const std::int64_t end = std::min(last, curve.data->size());
    if (end == 0) return;
    // Half a window: there the curve in front ends.
    const auto window = look_.smooth ? std::max<std::int64_t>(1, window_ / 2) : 1;
    // From the start of a bucket: rows of long ago would have to be fetched from the disk.
    std::int64_t begin = std::max<std::int64_t>(0, end - window);
    if (window > curve.data->base()) begin -= begin % curve.data->base();
    const Bucket tail = curve.data->total(begin, end);
    if (tail.finite == 0) return;
    scene_.labels.push_back({curve.name, curve.color, static_cast<double>(end),
                             static_cast<double>(look_.smooth ? tail.mean : tail.last)});
}

void LinePlot::refreshBandLabel(const Curve& ceiling, std::int64_t last) {
    const std::int64_t end = std::min(last, ceiling.data->size());
    const Bucket tail = ceiling.data->total(end - std::min<std::int64_t>(end, 20), end);
    if (tail.finite == 0) return;
    // In two lines: it is wider than the names of curves, for which there is room.
    for (const QString& line : tr("overflows\nabove").split(u'\n')) {
        scene_.labels.push_back(
            {line, theme_->tokens().dim, static_cast<double>(end), static_cast<double>(tail.mean)});
    }
}

void LinePlot::makeRoomForNames() {
    const QFontMetrics metrics(Theme::caption());
    int widest = 0;
    for (const auto& label : scene_.labels) {
        widest = std::max(widest, metrics.horizontalAdvance(label.text));
    }
    const int room = widest > 0 ? widest + size::inside : 2 * size::gap;
    const int right = std::min(room, width() / 3);
    QMargins margins = axisRect()->margins();
    if (margins.right() == right) return;
    margins.setRight(right);
    axisRect()->setMargins(margins);
}

void LinePlot::refreshBand(std::int64_t first, std::int64_t last) {
    scene_.unknown.clear();
    if (content_.ceilings.size() == 1) refreshBandLabel(content_.ceilings.front(), last);
    for (std::size_t i = 0; i < content_.ceilings.size(); ++i) {
        const auto shown =
            content_.ceilings[i].data->columns(first, last, std::max(16, axisRect()->width() / 2));
        const Polyline edge = envelope(shown);
        bands_[i]->setData(edge.x, edge.y, true);
        // A single unknown step is a skip, which the rug shows; a stretch of them is hatched.
        std::size_t from = 0;
        for (std::size_t c = 0; c <= shown.buckets.size(); ++c) {
            const bool known = c == shown.buckets.size() || shown.buckets[c].finite > 0;
            if (!known) continue;
            if (c - from >= 3) {
                scene_.unknown.push_back(columnX(shown, from));
                scene_.unknown.push_back(columnX(shown, c - 1));
            }
            from = c + 1;
        }
    }
}

void LinePlot::refreshRug(std::int64_t first, std::int64_t last) {
    scene_.rug.clear();
    scene_.circled = 0;
    scene_.rugName = tr("skipped");
    const std::int64_t selected = link_->selected() - 1;
    for (const SeriesPyramid* skips : content_.rug) {
        const auto shown = skips->columns(first, last, std::max(16, axisRect()->width()));
        for (std::size_t c = 0; c < shown.buckets.size(); ++c) {
            if (shown.buckets[c].finite > 0 && shown.buckets[c].max > 0) {
                scene_.rug.push_back(columnX(shown, c));
            }
        }
        if (selected >= 0 && selected < skips->size() &&
            skips->total(selected, selected + 1).max > 0) {
            scene_.circled = static_cast<double>(selected + 1);
        }
    }
}

void LinePlot::fitY(std::int64_t first, std::int64_t last) {
    Bucket all;
    for (const auto* set : {&content_.curves, &content_.ceilings}) {
        for (const Curve& curve : *set) all.add(curve.data->total(first, last));
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    QCPRange range = roundRange(all.finite > 0 ? static_cast<double>(all.min) : none,
                                all.finite > 0 ? static_cast<double>(all.max) : none, look_.axis);
    // While all is shown the range only grows, from that of the empty plot where the data begin
    // within it, so that curves do not jump under the eye.
    if (!holding_ && look_.axis == AxisKind::log) {
        const QCPRange empty = roundRange(none, none, look_.axis);
        held_ = empty.lower < range.upper && range.lower < empty.upper ? empty : range;
        holding_ = true;
    }
    if (holding_ && link_->fitted()) range.expand(held_);
    held_ = range;
    holding_ = all.finite > 0;
    yAxis->setRange(range);
}

std::int64_t LinePlot::stepAt(double pixel) const {
    return std::clamp<std::int64_t>(std::llround(xAxis->pixelToCoord(pixel)), 1,
                                    std::max<std::int64_t>(1, longest()));
}

void LinePlot::updateCrosshair() {
    const std::int64_t step = link_->crosshair();
    scene_.crosshair = static_cast<double>(step);
    scene_.readout.clear();
    scene_.readoutBelow = false;
    if (step > 0) {
        scene_.readout << qMakePair(tr("step %1").arg(count(step)), theme_->tokens().dim);
        for (const Curve& curve : content_.curves) {
            if (step > curve.data->size()) continue;
            const Bucket at = curve.data->total(step - 1, step);
            const double inf = std::numeric_limits<double>::infinity();
            const double value = at.finite ? static_cast<double>(at.last)
                                 : at.up   ? inf
                                 : at.down ? -inf
                                           : std::numeric_limits<double>::quiet_NaN();
            // Away from the curves: below where they are high.
            scene_.readoutBelow =
                scene_.readoutBelow || yAxis->coordToPixel(value) < axisRect()->rect().center().y();
            const QString figure = look_.figure ? look_.figure(value) : significant(value);
            scene_.readout << qMakePair(curve.name + u' ' + figure, curve.color);
        }
        if (extra_) scene_.readout << extra_(step);
    }
    if (visible()) layer(u"overlay"_s)->replot();
}

void LinePlot::describe() {
    QStringList parts;
    for (const Curve& curve : content_.curves) {
        const std::int64_t rows = curve.data->size();
        if (rows == 0) continue;
        const Bucket all = curve.data->total(0, rows);
        const auto figure = [this](float value) {
            return look_.figure ? look_.figure(value) : significant(value);
        };
        parts << tr("%1: %2 steps, from %3 to %4, now %5.")
                     .arg(curve.name, count(rows), figure(all.min), figure(all.max),
                          figure(all.last));
    }
    const QString text = parts.isEmpty() ? look_.emptyText : parts.join(u' ');
    // Every change is announced to screen readers, so only while one of them may look here.
    if (accessibleDescription().isEmpty() || hasFocus()) setAccessibleDescription(text);
}

bool LinePlot::exportTo(const QString& file) {
    refresh();
    if (file.endsWith(u".pdf"_s, Qt::CaseInsensitive)) return savePdf(file);
    if (file.endsWith(u".svg"_s, Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setFileName(file);
        svg.setSize(size());
        svg.setViewBox(rect());
        svg.setTitle(look_.title);
        QCPPainter painter;
        if (!painter.begin(&svg)) return false;
        painter.setMode(QCPPainter::pmVectorized);
        toPainter(&painter, width(), height());
        return painter.end();
    }
    return savePng(file, width(), height(), 2.0);
}

}  // namespace ui
