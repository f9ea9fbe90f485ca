#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "series/x_axis.h"

namespace ui {

class PlotLink;

/// Options shared by all plots of a window: the kind of x axis, the smoothing, and the margins, so
/// that a step has the same column in plots above each other. GUI thread.
class PlotOptions final : public QObject {
    Q_OBJECT
public:
    /// Options of a link, which owns them. Steps as they are, the default smoothing.
    explicit PlotOptions(PlotLink* link);

    /// Takes the choices of the last start, and keeps later ones for the next.
    void remember();

    /// Kind of the x axis: the choice, or the training time where a run on screen has no clock.
    XKind x() const;
    void setX(XKind kind);
    /// Whether x grows by factors: where it counts steps, updates or samples, and is so chosen.
    bool logX() const { return logX_ && takesLog(); }
    bool takesLog() const;
    void setLogX(bool on);
    /// Strengths to choose from, ascending; 0 shows raw curves alone.
    static std::span<const int> smoothings();
    /// Rows averaged where a row is a column of pixels; see smoothingWindow().
    int smoothing() const { return smoothing_; }
    void setSmoothing(int strength);

    /// The runs on screen, which keep their own x of each step.
    void setRuns(std::vector<std::shared_ptr<const RowAxis>> runs);
    const std::vector<std::shared_ptr<const RowAxis>>& runs() const { return runs_; }
    /// Whether all runs on screen recorded the time of day of their steps.
    bool hasClock() const;
    /// The run that reaches furthest in x. Zoom and crosshair are stored in its steps. Null for
    /// none.
    const RowAxis* reference() const;
    double xOf(double step) const;
    double stepOf(double at) const;
    /// The x axis: [first, last]. The end of a time axis that shows all is an estimate, rounded up.
    std::pair<double, double> visible();

    struct Margins {
        int left = 0;
        int right = 0;
    };
    /// The margins that a plot needs; those of all are common.
    void need(const void* plot, Margins margins);
    void drop(const void* plot);
    Margins common() const { return common_; }

signals:
    /// Paint anew.
    void changed();

private:
    void updateMargins();

    PlotLink* link_;
    XKind x_ = XKind::step;
    bool logX_ = false;
    int smoothing_ = 20;
    bool remembers_ = false;
    std::vector<std::shared_ptr<const RowAxis>> runs_;
    double timeEnd_ = 0;
    std::map<const void*, Margins> needs_;
    Margins common_;
};

}  // namespace ui
