#pragma once

#include <algorithm>

#include "plots/custom_plot.h"
#include "plots/plot_content.h"

namespace ui {

struct Tokens;

/// Ticks and labels of an axis, no more than there is room for.
class AxisTicker final : public QCPAxisTicker {
public:
    explicit AxisTicker(AxisKind kind) : kind_(kind) {}
    /// The labels that fit side by side; at most seven are drawn.
    void setMostLabels(int most) { most_ = std::min(most, 7); }

protected:
    double getTickStep(const QCPRange&) override { return 1; }
    int getSubTickCount(double) override { return 0; }
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int digits) override;

private:
    AxisKind kind_;
    int most_ = 7;
    std::vector<engine::Axis::Tick> ticks_;
};

/// How an x axis of this kind counts.
AxisKind axisKind(XKind kind);

/// Background, axes and grid of a plain plot in the colours of the theme.
void styleAxes(QCustomPlot* plot, const Tokens& tokens);

}  // namespace ui
