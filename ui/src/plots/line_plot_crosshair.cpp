// Crosshair, read-out and the summary for screen readers.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plots/line_plot.h"
#include "plots/plot_options.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

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
    return xOf(axisOf(link_->run()), static_cast<double>(link_->selected()));
}

QPair<QString, QColor> LinePlot::xReadout(double x) const {
    const auto words = [&] {
        switch (x_) {
            case XKind::step:
                return tr("step %1").arg(count(std::llround(x)));
            case XKind::update:
                return tr("update %1").arg(count(std::llround(x)));
            case XKind::epoch:
                return tr("epoch %1").arg(QString::number(x, 'f', 2));
            case XKind::sample:
                return tr("%1 samples").arg(count(std::llround(x)));
            case XKind::clock:
                return tr("%1 since the start")
                    .arg(x < 60 ? milliseconds(1000 * x) : duration(x));
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
            const std::int64_t step = stepOf(curve.x, x);
            if (step < 1 || step > curve.data->size()) continue;
            const double value = valueOf(curve.data->total(step - 1, step));
            // Away from the curves: below where they are high.
            scene_.readoutBelow =
                scene_.readoutBelow || yAxis->coordToPixel(value) < axisRect()->rect().center().y();
            QString line =
                curve.name + u' ' + (look_.figure ? look_.figure(value) : significant(value));
            if (x_ != XKind::step) line += u" \u00b7 "_s + tr("step %1").arg(count(step));
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
