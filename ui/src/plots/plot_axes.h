#pragma once

#include <QVector>
#include <cstdint>
#include <utility>
#include <vector>

#include "plots/axis_tickers.h"
#include "plots/custom_plot.h"
#include "plots/plot_content.h"

namespace ui {

class LinePlot;
class PlotLink;
struct PlotScene;

/// The axes of a plot: the kind of each, where steps lie, the ranges that fit what is shown, ticks
/// and margins. GUI thread.
class PlotAxes {
public:
    PlotAxes(LinePlot* plot, PlotLink* link) : plot_(plot), link_(link) {}

    XKind xKind() const { return x_; }
    /// Takes the kind of x axis that the options of the link ask for.
    void applyX();
    void setValues(AxisKind kind);
    /// Other values are shown: the next fit does not keep the range of the last.
    void release() { holding_ = false; }

    /// Step of a run at x; the nearest one. No run: steps lie at themselves, here and below.
    std::int64_t stepOf(const RowAxis* run, double x) const;
    double xOf(const RowAxis* run, double step) const;
    QVector<double> placed(const RowAxis* run, QVector<double> steps) const;
    /// Rows [first, last) of a run that are in view, and one more on each side.
    std::pair<std::int64_t, std::int64_t> rowsInView(const RowAxis* run) const;
    /// As many as the pixels that the curve takes in view.
    std::int64_t columnsFor(const Curve& curve) const;
    struct RowsInView {
        std::int64_t first, last, columns;
    };
    /// The rows of rowsInView() in parts, within each of which a row has about the same width: one
    /// part, or those between powers of two where x is logarithmic.
    std::vector<RowsInView> partsInView(const Curve& curve) const;
    bool isLogX() const { return logX_; }

    /// Shows the steps that the link shows.
    void fitSteps();
    /// Shows all values of these steps, or those that were zoomed to, above the lanes of `scene`.
    void fitValues(const PlotScene& scene);
    /// Sets margins in which the ticks' labels and the names of `scene` find room. A picture has a
    /// left margin of its own.
    void makeRoom(const PlotScene& scene, bool picture);

private:
    void fitTickers();
    QCPRange aboveLanes(QCPRange range, const PlotScene& scene) const;
    /// Hides the labels and lines of an axis whose range is not known.
    void showRanges(bool values);

    LinePlot* plot_;
    PlotLink* link_;
    XKind x_ = XKind::step;
    bool logX_ = false;
    AxisKind y_ = AxisKind::linear;
    QSharedPointer<AxisTicker> xTicker_;
    QSharedPointer<AxisTicker> yTicker_;
    QCPRange held_;  ///< y range that only grows while all is shown
    bool holding_ = false;
};

/// The fewest columns that a curve is drawn from.
inline constexpr int fewestColumns = 16;

}  // namespace ui
