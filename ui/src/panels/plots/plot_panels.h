#pragma once

#include <QTabBar>
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "panels/plots/plot_specs.h"
#include "plots/plot_export.h"
#include "view/context.h"

namespace ui {

class LinePlot;
class Panel;
class WhatIfCurves;

/// The plots that suit runs of these metrics, with samples of this unit.
using PlotSpecsFor = std::function<std::vector<PlotSpec>(const std::vector<engine::Metric>& metrics,
                                                         const std::string& unit)>;

/// A plot over the runs on screen; with several specs, tabs in the head choose between them.
class PlotPanel final : public QWidget {
    Q_OBJECT
public:
    PlotPanel(const Context& context, std::vector<PlotSpec> specs, QWidget* parent = nullptr);
    /// Shows what suits the first run on screen, else the settings, and follows them.
    PlotPanel(const Context& context, PlotSpecsFor specsFor, QWidget* parent = nullptr);
    /// `tabs`: what the tabs choose, for screen readers.
    void attachTo(Panel* panel, const QString& tabs = {});
    /// Switches between a logarithmic and a linear axis, where the plot offers it.
    void toggleLog();
    /// Curves of the plot of the loss scale; null on others.
    WhatIfCurves* whatIf() const { return whatIf_; }
    LinePlot* plot() const { return plot_; }
    /// Picture of what is shown now, in a theme's colours.
    PlotPicture picture(Theme* theme) const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    const PlotSpec& spec() const { return specs_[current_]; }
    void choose(std::size_t index);
    void rebuild();
    bool isMeasured(const RunTrack& track) const;
    bool marksGaps() const;
    bool isOfEvaluations(const RunTrack& track, Figure figure) const;
    bool lacksRun() const;
    void connectAll();
    std::vector<PlotSpec> suitableSpecs() const;
    void follow();
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
    WhatIfCurves* whatIf_ = nullptr;
    qint64 window_ = 0;
    QString tabsName_;
    bool stale_ = false;     ///< an epoch has ended
    bool hidden_ = false;    ///< shows nothing, and has its curves read once it is visible
    PlotSpecsFor specsFor_;  ///< null: the specs never change
};

struct PlotPanelNames {
    QString title;  ///< empty: that of the plot
    QString tabs;   ///< what the tabs choose, for screen readers
};

/// A panel with a plot of `specs`.
Panel* makePlotPanel(const Context& context, const QString& name, std::vector<PlotSpec> specs,
                     QWidget* parent, const PlotPanelNames& names = {});
/// A panel with plots that follow the runs on screen.
Panel* makePlotPanel(const Context& context, const QString& name, PlotSpecsFor specsFor,
                     const PlotPanelNames& names, QWidget* parent);

}  // namespace ui
