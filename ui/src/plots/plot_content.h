#pragma once

#include <QColor>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "engine/number/axis.h"
#include "series/series_pyramid.h"
#include "series/x_axis.h"

// The content of a plot, as data. Separate from line_plot.h, since QCustomPlot's headers take
// seconds to compile.
namespace ui {

using engine::AxisKind;

/// One run's line on a plot.
struct Curve {
    QString name;
    QColor color;
    bool dashed = false;
    const SeriesPyramid* data = nullptr;
    const RowAxis* x = nullptr;         ///< where its steps lie; null: at the steps themselves
    std::shared_ptr<const void> owner;  ///< the run: keeps data and x alive
    std::int64_t every = 1;             ///< steps from one that was measured to the next
    bool gaps = false;                  ///< NaN stands for no value, which is not marked
};

/// A step of one run at which something is drawn.
struct RunStep {
    double step = 0;
    const RowAxis* x = nullptr;
};

/// A value that is no part of a curve.
struct RunDot {
    RunStep at;
    double value = 0;
    QColor color;
};

/// A line across the plot with a word at its end: vertical at a step, or level at a value.
struct RunMark {
    RunStep at;
    QString text;
    QColor color;
    bool dashed = false;
    bool level = false;
    double value = 0;  ///< of a level line
};

/// All that a plot shows.
struct PlotContent {
    std::vector<Curve> curves;
    std::vector<Curve> ceilings;  ///< upper edge of the band, NaN where unknown
    std::vector<Curve> skips;     ///< > 0 where a tick belongs; a lane for each
    std::vector<RunDot> dots;
    std::vector<RunStep> epochs;  ///< their last steps
    std::vector<RunMark> marks;
};

/// How it shows them.
struct PlotLook {
    AxisKind axis = AxisKind::linear;
    bool stairs = false;    ///< level between values, never smoothed
    double curveWidth = 0;  ///< pixels; 0: the usual one
    double textScale = 1;   ///< of all words, for a projector
    bool smooth = false;    ///< noisy: a mean in front, the raw curve behind
    QString title;          ///< for screen readers and pictures
    QString axisName;       ///< with the unit, for pictures and copied data
    QString emptyText;
    std::function<QString(double)> figure;  ///< how a value is written
};

}  // namespace ui
