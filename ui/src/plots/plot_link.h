#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ui {

class PlotOptions;

/// State shared by all plots and pages: the visible steps, the crosshair, and the selected step,
/// run and layer. GUI thread.
class PlotLink final : public QObject {
    Q_OBJECT
public:
    explicit PlotLink(QObject* parent = nullptr);

    /// How the plots on this link draw.
    PlotOptions* options() const { return options_; }

    /// Visible steps [low, high].
    double low() const { return fitted_ ? 0 : low_; }
    double high() const { return fitted_ ? end_ : high_; }
    bool fitted() const { return fitted_; }
    /// Last step of the axis when all is shown: the planned end of the longest run, or its last
    /// step once all have ended. 0: not known, as before the first run.
    void setEnd(double end);
    double end() const { return end_; }
    void zoom(double low, double high);
    /// Zooms by a factor around x; < 1 goes in.
    void zoomAround(double x, double factor);
    /// Moves the visible steps by `steps`, no further than the ends.
    void pan(double steps);
    /// Shows all steps, and all values of every plot.
    void fit();

    /// The values that one plot shows, which its neighbours do not share; nothing while it shows
    /// all.
    using Values = std::pair<double, double>;
    std::optional<Values> values(const void* plot) const;
    void zoomValues(const void* plot, Values values);
    /// The plot shows all of its values again: it has another axis, or is gone.
    void dropValues(const void* plot);

    /// Goes back by a zoom. Steps of the wheel, or of a pan, that follow each other at once are
    /// one.
    void back();
    bool canGoBack() const { return !before_.empty(); }
    /// Other runs are on screen: fits, and there is nothing to go back to.
    void forgetZooms();

    /// Step under the mouse, 0: none.
    std::int64_t hovered() const { return hovered_; }
    void hover(std::int64_t step);
    /// Step selected in the list of events, on a plot or by the keys; 0: none. The crosshair moves
    /// there.
    std::int64_t selected() const { return selected_; }
    void select(std::int64_t step);
    /// The run that panels show, a RunTrack; null if none was chosen or it is gone.
    std::shared_ptr<const void> run() const { return run_.lock(); }
    void selectRun(const std::shared_ptr<const void>& run);
    /// A step of a run.
    void select(std::int64_t step, const std::shared_ptr<const void>& run);
    /// The layer that the pages show, by its module's name; empty: none was chosen.
    QString layer() const { return layer_; }
    void selectLayer(const QString& layer);
    /// The hovered step, else the selected one.
    std::int64_t crosshair() const { return hovered_ > 0 ? hovered_ : selected_; }

signals:
    void rangeChanged();
    void crosshairChanged();
    /// Another step or run is selected.
    void selectedChanged();
    void layerChanged();

private:
    struct Zoom {
        double low = 0;
        double high = 0;
        bool fitted = true;
        std::map<const void*, Values> values;
        bool operator==(const Zoom&) const = default;
    };
    Zoom now() const { return {low_, high_, fitted_, values_}; }
    /// Keeps the current zoom for back().
    void keep();
    void keepOnce();
    void place(double low, double high);

    PlotOptions* options_;
    double low_ = 0;
    double high_ = 0;
    double end_ = 0;
    bool fitted_ = true;
    std::map<const void*, Values> values_;
    std::vector<Zoom> before_;
    QElapsedTimer sinceStep_;  ///< of the wheel or of a pan
    std::int64_t hovered_ = 0;
    std::int64_t selected_ = 0;
    std::weak_ptr<const void> run_;
    QString layer_;
};

}  // namespace ui
