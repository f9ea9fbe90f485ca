#include "plots/line_plot.h"

#include <QWindow>
#include <algorithm>
#include <cmath>

#include "plots/plot_gestures.h"
#include "plots/plot_options.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {

LinePlot::LinePlot(Theme* theme, PlotLink* link, PaintScheduler* scheduler, QWidget* parent)
    : QCustomPlot(parent),
      theme_(theme),
      link_(link),
      scheduler_(scheduler),
      axes_(this, link),
      curves_(this, theme, link, &axes_) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(150, 76);
    // Without it a dense curve wider than a pixel is two orders of magnitude slower.
    setPlottingHint(QCP::phFastPolylines, true);
    axisRect()->setAutoMargins(QCP::msBottom);
    axisRect()->setMargins(QMargins(8, 10, size::inside, 4));
    new PlotGestures(this, link_, scheduler_);
    new SceneBack(this, &scene_);
    new SceneFront(this, &scene_);
    new SceneCrosshair(this, &scene_);
    scheduler_->add(this);
    connect(link_, &PlotLink::rangeChanged, this, [this] {
        axes_.release();
        dataGrew();
    });
    connect(link_, &PlotLink::crosshairChanged, this, &LinePlot::updateCrosshair);
    connect(link_, &PlotLink::selectedChanged, this, &LinePlot::dataGrew);
    connect(link_->options(), &PlotOptions::changed, this, [this] {
        axes_.applyX();
        curves_.make();
        dataGrew();
    });
    connect(theme_, &Theme::changed, this, [this] {
        applyStyle();
        dataGrew();
    });
    axes_.applyX();
    applyStyle();
}

LinePlot::~LinePlot() {
    disconnect(link_->options(), nullptr, this, nullptr);
    link_->options()->drop(this);
    disconnect(link_, nullptr, this, nullptr);
    link_->dropValues(this);
    scheduler_->remove(this);
}

QVariant LinePlot::kept() const {
    const auto values = link_->values(this);
    return values ? QVariant(QPointF(values->first, values->second)) : QVariant();
}

/// Later: another tab of the panel, which is put back too, gives the plot another look.
void LinePlot::setKept(const QVariant& values) {
    const QPointF range = values.toPointF();
    const auto zoom = [this, range] { link_->zoomValues(this, {range.x(), range.y()}); };
    QMetaObject::invokeMethod(this, zoom, Qt::QueuedConnection);
}

void LinePlot::applyStyle() {
    const Tokens& t = theme_->tokens();
    scene_.tokens = t;
    scene_.font = Theme::caption();
    scene_.font.setPointSizeF(scene_.font.pointSizeF() * look_.textScale);
    setBackground(QBrush(t.panel));
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(QPen(t.line, 1));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(t.dim);
        axis->setTickLabelFont(scene_.font);
        axis->setTickLabelPadding(6);
        axis->grid()->setPen(QPen(t.grid, 1));
        axis->grid()->setZeroLinePen(QPen(t.grid, 1));
        axis->grid()->setAntialiased(false);
    }
    showFocus();
    curves_.make();
}

void LinePlot::showFocus() {
    const QColor focused = blend(theme_->tokens().panel, theme_->tokens().accent, 0.04);
    axisRect()->setBackground(hasFocus() ? QBrush(focused) : QBrush(Qt::NoBrush));
}

void LinePlot::setLook(PlotLook look) {
    const bool rescaled = look.textScale != look_.textScale;
    // The values of another figure, or of a linear axis on a logarithmic one, would be elsewhere.
    if (look.axis != look_.axis || look.axisName != look_.axisName) link_->dropValues(this);
    look_ = std::move(look);
    if (rescaled) applyStyle();
    axes_.setValues(look_.axis);
    setAccessibleName(look_.title);
    curves_.make();
    dataGrew();
}

void LinePlot::setContent(PlotContent content) {
    const bool sameCurves = content.curves.size() == content_.curves.size() &&
                            std::equal(content.curves.begin(), content.curves.end(),
                                       content_.curves.begin(), [](const Curve& a, const Curve& b) {
                                           return a.data == b.data && a.x == b.x &&
                                                  a.color == b.color && a.dashed == b.dashed;
                                       });
    content_ = std::move(content);
    if (!sameCurves || !curves_.fitsContent()) {
        axes_.release();
        curves_.make();
    }
    dataGrew();
}

void LinePlot::dataGrew() {
    // The first points do not wait for the budget: nothing was to be seen until now.
    if (!scene_.emptyText.isEmpty() && curves_.longest() > 0) scheduler_->touch();
    scheduler_->request(this);
}

bool LinePlot::visible() const {
    return isVisible() && !window()->isMinimized() && window()->windowHandle() != nullptr &&
           window()->windowHandle()->isExposed() && !visibleRegion().isEmpty();
}

void LinePlot::refresh() {
    axes_.fitSteps();
    const qint64 before = curves_.window();
    curves_.read(scene_);
    if (curves_.window() != before) emit smoothingChanged(curves_.window());
    axes_.fitValues(scene_);
    curves_.countClipped(scene_);
    axes_.makeRoom(scene_, picture_);
    updateCrosshair();
    describe();
}

void LinePlot::paintNow() {
    refresh();
    painted_ = curves_.longest();
    setUpdatesEnabled(false);  // until present()
    replot(QCustomPlot::rpQueuedRefresh);
}

void LinePlot::present() { setUpdatesEnabled(true); }

void LinePlot::layOutForPicture(const QString& title, const QSize& size) {
    picture_ = true;
    const QFont caption = Theme::caption();
    plotLayout()->insertRow(0);
    plotLayout()->addElement(0, 0, new QCPTextElement(this, title, Theme::bold()));
    for (auto [axis, name] :
         {std::pair{xAxis, xName(axes_.xKind())}, std::pair{yAxis, look_.axisName}}) {
        axis->setLabel(name);
        axis->setLabelFont(caption);
        axis->setLabelColor(theme_->tokens().text);
    }
    axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom);
    resize(size);
    setViewport(QRect({0, 0}, size));  // unseen widgets get no resize event
    // The first layout gives the area its size, by which the curves are then drawn.
    refresh();
    replot();
    refresh();
    replot();
}

void LinePlot::showEvent(QShowEvent* event) {
    QCustomPlot::showEvent(event);
    dataGrew();
}

void LinePlot::hideEvent(QHideEvent* event) {
    QCustomPlot::hideEvent(event);
    link_->options()->drop(this);
}

void LinePlot::resizeEvent(QResizeEvent* event) {
    refresh();  // what the base class paints at once is then right
    QCustomPlot::resizeEvent(event);
    scheduler_->touch();
    dataGrew();
}

void LinePlot::paintEvent(QPaintEvent* event) {
    QCustomPlot::paintEvent(event);
    scheduler_->arm();  // what was asked for before the plot could be seen
}

void LinePlot::focusInEvent(QFocusEvent* event) {
    QCustomPlot::focusInEvent(event);
    describe();
    showFocus();
    dataGrew();
}

void LinePlot::focusOutEvent(QFocusEvent* event) {
    QCustomPlot::focusOutEvent(event);
    showFocus();
    dataGrew();
}

namespace {

/// The value of one row: its infinity or NaN where it is not finite.
double valueOf(const Bucket& row) {
    const double inf = std::numeric_limits<double>::infinity();
    if (row.finite != 0) return static_cast<double>(row.last);
    if (row.up != 0) return inf;
    return row.down != 0 ? -inf : std::numeric_limits<double>::quiet_NaN();
}

/// A line of the read-out.
struct Hovered {
    double value = 0;
    QString text;
    QColor color;
};

struct AxisNames {
    Q_DECLARE_TR_FUNCTIONS(AxisNames)
public:
    static QString of(XKind kind) {
        switch (kind) {
            case XKind::step:
                return tr("step");
            case XKind::update:
                return tr("update");
            case XKind::epoch:
                return tr("epoch");
            case XKind::sample:
                return tr("samples seen");
            case XKind::time:
                return tr("training time (s)");
            case XKind::clock:
                return tr("time since the start, pauses included (s)");
        }
        return {};
    }
};

}  // namespace

QString xName(XKind kind) { return AxisNames::of(kind); }

const RowAxis* LinePlot::axisOf(const std::shared_ptr<const void>& run) const {
    for (const auto& axis : link_->options()->runs()) {
        // An axis is part of its run, and is owned with it.
        if (run && !axis.owner_before(run) && !run.owner_before(axis)) return axis.get();
    }
    return link_->options()->reference();
}

double LinePlot::crosshairX() const {
    if (link_->hovered() > 0) return link_->options()->xOf(static_cast<double>(link_->hovered()));
    return axes_.xOf(axisOf(link_->run()), static_cast<double>(link_->selected()));
}

QPair<QString, QColor> LinePlot::xReadout(double x) const {
    const auto words = [&] {
        switch (axes_.xKind()) {
            case XKind::step:
                return tr("step %1").arg(count(std::llround(x)));
            case XKind::update:
                return tr("update %1").arg(count(std::llround(x)));
            case XKind::epoch:
                return tr("epoch %1").arg(QString::number(x, 'f', 2));
            case XKind::sample:
                return tr("%1 samples").arg(count(std::llround(x)));
            case XKind::clock:
                return tr("%1 since the start").arg(x < 60 ? milliseconds(1000 * x) : duration(x));
            case XKind::time:
                break;
        }
        return tr("%1 s").arg(significant(x, 4));
    };
    return qMakePair(words(), theme_->tokens().dim);
}

void LinePlot::updateCrosshair() {
    scene_.readout.clear();
    scene_.readoutBelow = false;
    scene_.crosshair = link_->crosshair() > 0 ? crosshairX() : 0;
    if (link_->crosshair() > 0) {
        const double x = scene_.crosshair;
        scene_.readout << xReadout(x);
        std::vector<Hovered> lines;
        for (const Curve& curve : content_.curves) {
            const std::int64_t step = axes_.stepOf(curve.x, x);
            if (step < 1 || step > curve.data->size()) continue;
            const double value = valueOf(curve.data->total(step - 1, step));
            // Away from the curves: below where they are high.
            scene_.readoutBelow =
                scene_.readoutBelow || yAxis->coordToPixel(value) < axisRect()->rect().center().y();
            QString line =
                curve.name + u' ' + (look_.figure ? look_.figure(value) : significant(value));
            if (axes_.xKind() != XKind::step)
                line += u" \u00b7 "_s + tr("step %1").arg(count(step));
            lines.push_back({value, std::move(line), curve.color});
        }
        // As the curves lie above each other, so that a line is found beside its curve.
        std::ranges::stable_sort(lines, [](const Hovered& a, const Hovered& b) {
            return !std::isnan(a.value) && (std::isnan(b.value) || a.value > b.value);
        });
        for (const Hovered& line : lines) scene_.readout << qMakePair(line.text, line.color);
        if (extra_) scene_.readout << extra_(x);
    }
    if (visible()) layer(u"overlay"_s)->replot();
}

QString LinePlot::spoken() const {
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
    return parts.isEmpty() ? look_.emptyText : parts.join(u' ');
}

void LinePlot::describe() {
    // Every change is announced to screen readers, so only while one of them may look here. What
    // they ask for at another time, they get from spoken().
    if (accessibleDescription().isEmpty() || hasFocus()) setAccessibleDescription(spoken());
}

}  // namespace ui
