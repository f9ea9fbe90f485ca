#pragma once

#include <QTabBar>
#include <QWidget>
#include <vector>

#include "panels/plot_specs.h"
#include "plots/plot_picture.h"
#include "view/context.h"

namespace ui {

class LinePlot;
class Panel;

/// A plot over the runs on screen; with several specs, tabs in the head choose between them.
class PlotPanel final : public QWidget {
    Q_OBJECT
public:
    PlotPanel(const Context& context, std::vector<PlotSpec> specs, QWidget* parent = nullptr);
    /// Shows the metrics of the first run on screen, or of the settings, and follows them.
    explicit PlotPanel(const Context& context, QWidget* parent = nullptr);
    void furnish(Panel* panel);
    /// Between a logarithmic and a linear axis, where the plot offers it.
    void toggleLog();
    LinePlot* plot() const { return plot_; }
    /// What is shown now, in a theme's colours.
    PlotPicture picture(Theme* theme) const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    const PlotSpec& spec() const { return specs_[current_]; }
    void choose(std::size_t index);
    void rebuild();
    void connectAll();
    /// The metrics to show; never empty.
    std::vector<engine::Metric> metrics() const;
    void followMetrics();
    void fillTabs();
    void fillMenu(Panel* panel);
    PlotContent makeContent(const Theme& theme) const;
    void addEvaluations(PlotContent& content, const Theme& theme) const;
    QString note() const;
    void writeNote(qint64 window);
    QList<QPair<QString, QColor>> scaleReadout(double x) const;
    void exportPicture();

    Context context_;
    std::vector<PlotSpec> specs_;
    std::size_t current_ = 0;
    LinePlot* plot_;
    Panel* panel_ = nullptr;
    QTabBar* tabs_ = nullptr;
    qint64 window_ = 0;
    bool stale_ = false;    ///< an epoch has ended
    bool follows_ = false;  ///< the runs' metrics
};

/// A panel with a plot of the metrics of the runs on screen.
Panel* makeMetricPanel(const Context& context, const QString& name, QWidget* parent);
/// A panel with a plot of `specs`; several need a title of their own.
Panel* makePlotPanel(const Context& context, const QString& name, std::vector<PlotSpec> specs,
                     QWidget* parent, const QString& title = {});

}  // namespace ui
