#pragma once

#include <QCoreApplication>
#include <cstdint>
#include <memory>
#include <vector>

#include "plots/custom_plot.h"
#include "plots/plot_axes.h"
#include "plots/plot_content.h"
#include "plots/polyline.h"

namespace ui {

class LinePlot;
class PlotAxes;
class PlotLink;
class Theme;
struct PlotScene;

/// The curves of a plot: reads the series in view into graphs of QCustomPlot before each paint, and
/// into the scene what is drawn beside them. GUI thread.
class PlotCurves {
    Q_DECLARE_TR_FUNCTIONS(PlotCurves)
public:
    PlotCurves(LinePlot* plot, const Theme* theme, const PlotLink* link, const PlotAxes* axes)
        : plot_(plot), theme_(theme), link_(link), axes_(axes) {}

    /// Makes graphs for the content of the plot, in the colours of the theme.
    void make();
    /// Whether there are as many graphs as the content needs.
    bool fitsContent() const;
    /// Reads the steps in view.
    void read(PlotScene& scene);
    /// Counts the points outside the values in view.
    void countClipped(PlotScene& scene) const;

    /// Steps of the longest run.
    std::int64_t longest() const;
    /// Rows averaged in front; 0 where nothing is averaged.
    qint64 window() const { return window_; }
    /// The run whose curve is nearest, or null where none is near.
    std::shared_ptr<const void> runAt(const QPointF& pixel) const;

private:
    bool smooths() const;
    void readCurve(std::size_t index, PlotScene& scene);
    /// Adds the mean of a part of a curve whose columns have this many rows.
    void addMean(const Curve& curve, const PlotAxes::RowsInView& part, std::int64_t width,
                 Polyline& mean);
    static SeriesPyramid::Columns bandColumns(const Curve& ceiling,
                                              const PlotAxes::RowsInView& part);
    void addUnknown(const Curve& ceiling, const SeriesPyramid::Columns& shown,
                    PlotScene& scene) const;
    void readLabel(const Curve& curve, std::int64_t last, PlotScene& scene) const;
    void readBand(PlotScene& scene);
    void readBandLabel(const Curve& ceiling, std::int64_t last, PlotScene& scene) const;
    void readLanes(PlotScene& scene) const;
    void readMarks(PlotScene& scene) const;

    LinePlot* plot_;
    const Theme* theme_;
    const PlotLink* link_;
    const PlotAxes* axes_;
    std::vector<QCPGraph*> raw_;
    std::vector<QCPGraph*> front_;
    std::vector<QCPGraph*> bands_;
    qint64 window_ = 0;
};

}  // namespace ui
