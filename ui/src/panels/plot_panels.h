#pragma once

#include <QTabBar>
#include <QWidget>
#include <vector>

#include "context.h"
#include "feed/run_track.h"
#include "plots/line_plot.h"

namespace ui {

class Panel;

/// What one plot shows of the runs on screen.
struct PlotSpec {
    QString title;
    QString note;
    Figure figure = Figure::loss;
    PlotLook look;
    bool scaledOnly = false;   ///< only runs with a loss scaler, with their band and skips
    bool evaluations = false;  ///< the test set's results as dots
    bool logToggle = false;    ///< L switches between log and linear
};
PlotSpec lossSpec();
PlotSpec accuracySpec();
PlotSpec lossScaleSpec();
std::vector<PlotSpec> fourthPlaceSpecs();

/// A plot over the runs on screen; with several specs, tabs in the head choose between them.
class PlotPanel final : public QWidget {
    Q_OBJECT
public:
    PlotPanel(const Context& context, std::vector<PlotSpec> specs, QWidget* parent = nullptr);
    void furnish(Panel* panel);
    void toggleLog();
    LinePlot* plot() const { return plot_; }

private:
    const PlotSpec& spec() const { return specs_[current_]; }
    void choose(std::size_t index);
    void rebuild();
    void addEvaluations(PlotContent& content) const;
    void writeNote(qint64 window);
    QList<QPair<QString, QColor>> scaleReadout(std::int64_t step) const;
    void exportPlot();

    Context context_;
    std::vector<PlotSpec> specs_;
    std::size_t current_ = 0;
    LinePlot* plot_;
    Panel* panel_ = nullptr;
    QTabBar* tabs_ = nullptr;
    qint64 window_ = 0;
    bool stale_ = false;  ///< an epoch has ended
};

}  // namespace ui
