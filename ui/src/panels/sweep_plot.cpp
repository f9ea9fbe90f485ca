#include "panels/sweep_plot.h"

#include <set>

#include "plots/simple_axes.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double decades = 20;  // from this ratio on the axis is logarithmic

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
    out.logarithmic = *low > 0 && *high / *low >= decades;
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
    const Tokens& tokens = theme_->tokens();
    const QColor colours[] = {tokens.fp32,   tokens.ampFp16,  tokens.ampBf16,
                              tokens.o2Fp16, tokens.pureFp16, tokens.tf32};
    const SweepCurves found = sweepCurves(rows_);
    for (std::size_t i = 0; i < found.curves.size(); ++i) {
        const QColor colour = colours[i % std::size(colours)];
        QCPGraph* graph = addGraph();
        graph->setName(found.curves[i].name);
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
        xAxis->setTicker(found.logarithmic ? QSharedPointer<QCPAxisTicker>(new QCPAxisTickerLog)
                                           : QSharedPointer<QCPAxisTicker>(new QCPAxisTicker));
    } else {
        auto names = QSharedPointer<QCPAxisTickerText>::create();
        for (int i = 0; i < found.values.size(); ++i) names->addTick(i, found.values[i]);
        xAxis->setScaleType(QCPAxis::stLinear);
        xAxis->setTicker(names);
    }
    xAxis->setLabel(found.field);
    yAxis->setLabel(figure_);
    legend->setVisible(found.curves.size() > 1);
    rescaleAxes();
    for (QCPAxis* axis : {xAxis, yAxis}) axis->scaleRange(1.15, axis->range().center());
    replot(rpQueuedReplot);
}

void SweepPlot::describe() {
    QStringList sentences;
    for (const auto& row : rows_) {
        if (!std::isnan(row.best.mean))
            sentences << QString::fromStdString(row.label) + u": "_s + significant(row.best.mean);
    }
    setAccessibleDescription(sentences.join(u"; "_s));
}

}  // namespace ui
