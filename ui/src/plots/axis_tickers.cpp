#include "plots/axis_tickers.h"

#include "theme/theme.h"

namespace ui {

QVector<double> AxisTicker::createTickVector(double, const QCPRange& range) {
    ticks_ = engine::Axis{kind_, {range.lower, range.upper}}.ticks(most_);
    QVector<double> places;
    for (const auto& tick : ticks_) places << tick.at;
    return places;
}

QString AxisTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    const auto found = std::ranges::find(ticks_, tick, &engine::Axis::Tick::at);
    return found == ticks_.end() ? QString() : QString::fromStdString(found->text);
}

AxisKind axisKind(XKind kind) {
    if (kind == XKind::time || kind == XKind::clock) return AxisKind::time;
    return kind == XKind::epoch ? AxisKind::linear : AxisKind::steps;
}

void styleAxes(QCustomPlot* plot, const Tokens& tokens) {
    plot->setBackground(tokens.panel);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(QPen(tokens.line));
        axis->setTickPen(QPen(tokens.line));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(tokens.dim);
        axis->setLabelColor(tokens.dim);
        axis->setTickLabelFont(Theme::caption());
        axis->setLabelFont(Theme::caption());
        axis->grid()->setPen(QPen(tokens.grid));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
}

}  // namespace ui
