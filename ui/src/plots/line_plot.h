#pragma once

#include <functional>
#include <memory>

#include "plots/custom_plot.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_axes.h"
#include "plots/plot_content.h"
#include "plots/plot_curves.h"
#include "plots/plot_link.h"
#include "plots/plot_overlay.h"
#include "text/spoken.h"

namespace ui {

class Theme;

/// Name of an x axis with its unit, for pictures and copied data.
QString xName(XKind kind);

/// Curves against the step, drawn from pyramids. Shares range, crosshair, kind of x axis and
/// margins with its neighbours. A drag zooms the steps of all, with Ctrl the values of this plot;
/// with Shift, or the middle button, it pans. The wheel does the same around the pointer. A double
/// click fits, Backspace goes back by a zoom, a click selects the step. GUI thread.
class LinePlot final : public QCustomPlot, public Paintable, public Spoken {
    Q_OBJECT
    /// The values that are zoomed to, for widgets/widget_state.h; invalid while all are shown.
    Q_PROPERTY(QVariant kept READ kept WRITE setKept)
public:
    /// Lines for the crosshair at x, which is in the axis' unit.
    using Readout = std::function<QList<QPair<QString, QColor>>(double x)>;

    LinePlot(Theme* theme, PlotLink* link, PaintScheduler* scheduler, QWidget* parent = nullptr);
    ~LinePlot() override;
    /// A sentence on each curve.
    QString spoken() const override;

    QVariant kept() const;
    void setKept(const QVariant& values);

    void setLook(PlotLook look);
    const PlotLook& look() const { return look_; }
    void setContent(PlotContent content);
    const PlotContent& content() const { return content_; }
    const PlotAxes& axes() const { return axes_; }
    const PlotCurves& curves() const { return curves_; }
    /// Further lines of the read-out, after the curves' values.
    void setReadout(Readout readout) { extra_ = std::move(readout); }
    /// The series have more rows: paint when there is time.
    void dataGrew();
    /// For a picture: under a title, with names of the axes, laid out for a size in pixels.
    void layOutForPicture(const QString& title, const QSize& size);
    /// Everything drawn beside the curves, as of the last paint.
    const PlotScene& scene() const { return scene_; }
    /// Where the steps of a run lie; of the reference for null or a run that is gone.
    const RowAxis* axisOf(const std::shared_ptr<const void>& run) const;
    double crosshairX() const;
    /// The area that a drag is about to zoom to, in pixels; null: none.
    void markDragged(const QRectF& area) { scene_.dragged = area; }

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
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void applyStyle();
    void showFocus();
    /// Reads what is to be painted.
    void refresh();
    void updateCrosshair();
    QPair<QString, QColor> xReadout(double x) const;
    void describe();

    Theme* theme_;
    PlotLink* link_;
    PaintScheduler* scheduler_;
    PlotLook look_;
    PlotContent content_;
    Readout extra_;
    PlotScene scene_;
    PlotAxes axes_;
    PlotCurves curves_;
    std::int64_t painted_ = 0;
    bool picture_ = false;
};

}  // namespace ui
