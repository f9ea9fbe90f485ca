#include "panels/queue/sweep_plot.h"

#include "plots/axis_tickers.h"
#include "text/metric_text.h"
#include "text/setting_text.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr double spans = 8;    // from this ratio on the axis is logarithmic
constexpr int labelRoom = 44;  // pixels of a label on the y axis

/// "optimizer.lr", "0.1" and the rest of a label.
struct Parts {
    QString field, value, rest;
};

Parts partsOf(const std::string& label) {
    const QString text = QString::fromStdString(label);
    const QString first = text.section(u' ', 0, 0);
    return {first.section(u'=', 0, 0), first.section(u'=', 1), text.section(u' ', 1)};
}

bool allNumbers(const QStringList& values) {
    return std::all_of(values.begin(), values.end(), [](const QString& value) {
        bool number = false;
        value.toDouble(&number);
        return number;
    });
}

/// The colour of a precision for a curve that stands for one alone; else one that means none.
QColor colourOf(const Theme& theme, const QString& name, std::size_t index) {
    const QString preset = name.section(u"precision.preset="_s, 1).section(u' ', 0, 0);
    if (!preset.isEmpty() && !name.contains(u' ')) return theme.precision(preset.toStdString());
    return theme.run({}, static_cast<int>(index));
}

}  // namespace

SweepCurves sweepCurves(const std::vector<engine::SweepRow>& rows) {
    SweepCurves out;
    QStringList values;
    for (const auto& row : rows) {
        const Parts parts = partsOf(row.label);
        out.field = parts.field;
        if (!values.contains(parts.value)) values << parts.value;
    }
    const bool numbers = allNumbers(values);
    if (!numbers) {
        values.sort();
        out.values = values;
    }
    for (const auto& row : rows) {
        if (std::isnan(row.best.mean)) continue;
        const Parts parts = partsOf(row.label);
        const double x =
            numbers ? parts.value.toDouble() : static_cast<double>(values.indexOf(parts.value));
        auto curve = std::find_if(out.curves.begin(), out.curves.end(),
                                  [&](const SweepCurve& each) { return each.name == parts.rest; });
        if (curve == out.curves.end()) curve = out.curves.insert(curve, {parts.rest, {}});
        curve->dots.push_back({x, row.best.mean, row.best.spread});
    }
    std::vector<double> all;
    for (SweepCurve& curve : out.curves) {
        std::sort(curve.dots.begin(), curve.dots.end(),
                  [](const SweepDot& a, const SweepDot& b) { return a.x < b.x; });
        for (const SweepDot& dot : curve.dots) all.push_back(dot.x);
    }
    if (!numbers || all.empty()) return out;
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    out.logarithmic = *low > 0 && *high / *low >= spans;
    return out;
}

SweepPlot::SweepPlot(Theme* theme, QWidget* parent) : QCustomPlot(parent), theme_(theme) {
    setMinimumHeight(120);
    setAccessibleName(tr("Results of the sweep"));
    connect(theme_, &Theme::changed, this, [this] {
        applyStyle();
        draw();
    });
    // Above the curves: within them it would hide the best ones.
    plotLayout()->insertRow(0);
    plotLayout()->addElement(0, 0, legend);
    plotLayout()->setRowStretchFactor(0, 0.001);
    legend->setFillOrder(QCPLayoutGrid::foColumnsFirst);
    legend->setWrap(2);
    applyStyle();
}

void SweepPlot::setRows(std::vector<engine::SweepRow> rows, const QString& figure) {
    rows_ = std::move(rows);
    figure_ = figure;
    draw();
    describe();
}

void SweepPlot::applyStyle() {
    const Tokens& tokens = theme_->tokens();
    styleAxes(this, tokens);
    legend->setBrush(tokens.panel);
    legend->setBorderPen(Qt::NoPen);
    legend->setTextColor(tokens.dim);
    legend->setFont(Theme::caption());
}

void SweepPlot::draw() {
    clearPlottables();
    const SweepCurves found = sweepCurves(rows_);
    for (std::size_t i = 0; i < found.curves.size(); ++i) {
        const QColor colour = colourOf(*theme_, found.curves[i].name, i);
        QCPGraph* graph = addGraph();
        graph->setName(settingsLabel(found.curves[i].name.toStdString()));
        graph->setPen(QPen(colour, size::smoothCurve));
        graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, colour, 7));
        if (found.curves[i].name.isEmpty()) graph->removeFromLegend();
        auto* bars = new QCPErrorBars(xAxis, yAxis);
        bars->setDataPlottable(graph);
        bars->setPen(QPen(colour));
        bars->removeFromLegend();
        for (const SweepDot& dot : found.curves[i].dots) {
            graph->addData(dot.x, dot.y);
            bars->addData(dot.spread);
        }
    }
    if (found.values.isEmpty()) {
        xAxis->setScaleType(found.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        xAxis->setTicker(QSharedPointer<AxisTicker>::create(
            found.logarithmic ? AxisKind::log : AxisKind::linear));
    } else {
        auto names = QSharedPointer<QCPAxisTickerText>::create();
        for (int i = 0; i < found.values.size(); ++i)
            names->addTick(i,
                           settingValue(found.field.toStdString(), found.values[i].toStdString()));
        xAxis->setScaleType(QCPAxis::stLinear);
        xAxis->setTicker(names);
    }
    const bool share = !rows_.empty() && rows_.front().metric.is_share;
    const auto values =
        QSharedPointer<AxisTicker>::create(share ? AxisKind::share : AxisKind::linear);
    values->setMostLabels(height() / labelRoom);
    yAxis->setTicker(values);
    xAxis->setLabel(settingTitle(found.field.toStdString()));
    yAxis->setLabel(figure_);
    legend->setVisible(found.curves.size() > 1);
    rescaleAxes();
    if (found.logarithmic) {
        const QCPRange all = xAxis->range();
        xAxis->setRange(all.lower / 1.3, all.upper * 1.3);
    } else {
        xAxis->scaleRange(1.15, xAxis->range().center());
    }
    yAxis->scaleRange(1.15, yAxis->range().center());
    // Before the first result there is no range to show.
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setTickLabels(!found.curves.empty());
        axis->grid()->setVisible(!found.curves.empty());
    }
    replot(rpQueuedReplot);
}

void SweepPlot::describe() {
    QStringList sentences;
    for (const auto& row : rows_) {
        if (!std::isnan(row.best.mean))
            sentences << settingsLabel(row.label) + u": "_s +
                             metricValue(row.metric, row.best.mean);
    }
    setAccessibleDescription(sentences.join(u"; "_s));
}

}  // namespace ui
