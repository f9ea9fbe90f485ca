#pragma once

#include "plots/custom_plot.h"
#include "plots/plot_content.h"

class QCustomPlot;

namespace ui {

struct Tokens;

/// A ticker that draws no more labels than there is room for.
class RoomTicker : public QCPAxisTicker {
public:
    RoomTicker() { setMostLabels(7); }
    /// The labels that fit side by side; at least 2.
    void setMostLabels(int most);

protected:
    int getSubTickCount(double) override { return 0; }
    int most() const { return most_; }

private:
    int most_ = 7;
};

/// Ticks and labels for a y axis of this kind.
QSharedPointer<RoomTicker> makeTicker(AxisKind kind);
/// Ticks and labels for an x axis of this kind: 1,200; 0:30.
QSharedPointer<RoomTicker> makeXTicker(XKind kind);

/// The smallest round range that holds [low, high] on an axis of this kind; a default one if they
/// are not usable (NaN, or nothing positive on a log axis).
QCPRange roundRange(double low, double high, AxisKind kind);

/// Background, axes and grid of a plain plot in the colours of the theme.
void styleAxes(QCustomPlot* plot, const Tokens& tokens);

}  // namespace ui
