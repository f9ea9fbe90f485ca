#pragma once

#include <qcustomplot.h>

#include <functional>
#include <memory>
#include <vector>

#include "plots/axis_tickers.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "plots/plot_overlay.h"
#include "plots/series_pyramid.h"

namespace ui {

class Theme;

/// One run's line on a plot.
struct Curve {
    QString name;
    QColor color;
    bool dashed = false;
    const SeriesPyramid* data = nullptr;
    std::shared_ptr<const void> owner;  ///< the run: keeps data alive
};

/// All that a plot shows.
struct PlotContent {
    std::vector<Curve> curves;
    std::vector<Curve> ceilings;            ///< upper edge of the band, NaN where unknown
    std::vector<const SeriesPyramid*> rug;  ///< > 0 where a tick belongs
    std::vector<PlotScene::Dot> dots;
    std::vector<double> epochs;
};

/// How it shows them.
struct PlotLook {
    AxisKind axis = AxisKind::linear;
    bool stairs = false;  ///< level between values, never smoothed
    bool smooth = false;  ///< noisy: a mean in front, the raw curve behind
    QString title;        ///< for screen readers
    QString emptyText;
    std::function<QString(double)> figure;  ///< how a value is written
};

/// Curves against the step, drawn from pyramids. Shares range and crosshair with its neighbours;
/// drag zooms all, the wheel zooms x, a double click fits, a click selects the step. GUI thread.
class LinePlot final : public QCustomPlot, public Paintable {
    Q_OBJECT
public:
    using Readout = std::function<QList<QPair<QString, QColor>>(std::int64_t step)>;

    LinePlot(Theme* theme, PlotLink* link, PaintScheduler* scheduler, QWidget* parent = nullptr);
    ~LinePlot() override;

    void setLook(PlotLook look);
    const PlotLook& look() const { return look_; }
    void setContent(PlotContent content);
    /// Further lines of the read-out, after the curves' values.
    void setReadout(Readout readout) { extra_ = std::move(readout); }
    /// The series have more rows: paint when there is time.
    void dataGrew();
    /// Writes what is shown: PNG, SVG or PDF by the name's ending. False if the file cannot be
    /// written.
    bool exportTo(const QString& file);

    bool visible() const override;
    void paintNow() override;
    void present() override;
    /// Steps of the longest run in the picture that is shown or about to be.
    std::int64_t paintedSteps() const { return painted_; }

signals:
    /// Rows averaged in front; 0 where nothing is averaged.
    void smoothingChanged(qint64 window);
    void expandRequested();

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void dress();
    void showFocus();
    void makeGraphs();
    void refresh();
    void refreshCurve(std::size_t index, std::int64_t first, std::int64_t last);
    void refreshBand(std::int64_t first, std::int64_t last);
    void refreshRug(std::int64_t first, std::int64_t last);
    void refreshLabel(const Curve& curve, std::int64_t last);
    void refreshBandLabel(const Curve& ceiling, std::int64_t last);
    /// Keeps a margin on the right in which the names at the curves' ends find room.
    void makeRoomForNames();
    void fitY(std::int64_t first, std::int64_t last);
    void updateCrosshair();
    void describe();
    std::int64_t longest() const;
    std::int64_t stepAt(double pixel) const;
    /// The run whose curve is nearest, or null where none is near.
    std::shared_ptr<const void> runAt(const QPointF& pixel) const;

    Theme* theme_;
    PlotLink* link_;
    PaintScheduler* scheduler_;
    PlotLook look_;
    PlotContent content_;
    Readout extra_;
    PlotScene scene_;
    std::vector<QCPGraph*> raw_;
    std::vector<QCPGraph*> front_;
    std::vector<QCPGraph*> bands_;
    QCPRange held_;  ///< y range that only grows while all is shown
    bool holding_ = false;
    qint64 window_ = 0;
    std::int64_t painted_ = 0;
    QPointF pressed_;
    bool dragging_ = false;
};

}  // namespace ui
