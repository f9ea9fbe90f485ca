#pragma once

#include <QObject>
#include <QPointF>
#include <cstdint>
#include <memory>

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace ui {

class LinePlot;
class PaintScheduler;
class PlotLink;

/// Mouse and keyboard on a plot: what a drag, a click, the wheel and the keys do to the steps and
/// values that are shown and to the selection (LinePlot says which does what). GUI thread.
class PlotGestures final : public QObject {
public:
    /// Belongs to the plot.
    PlotGestures(LinePlot* plot, PlotLink* link, PaintScheduler* scheduler);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// Meaning of a drag of the mouse.
    enum class Drag { none, steps, values, pan };
    static Drag dragOf(const QMouseEvent& event);
    void press(const QMouseEvent& event);
    void move(const QMouseEvent& event);
    void release(const QMouseEvent& event);
    void doubleClick(const QMouseEvent& event);
    void turnWheel(QWheelEvent& event);
    /// False for a key that means nothing here.
    bool pressKey(const QKeyEvent& event);
    /// Step and value at a pixel of the plot.
    double stepAt(double pixel) const;
    double valueAt(double pixel) const;
    void dragTo(const QPointF& at);
    void panBy(const QPointF& pixels);
    void zoomValuesAround(double pixel, double factor);
    void moveSelection(int key, Qt::KeyboardModifiers modifiers);
    /// The run that a click at a place selects.
    std::shared_ptr<const void> runForClick(const QPointF& pixel) const;

    LinePlot* plot_;
    PlotLink* link_;
    PaintScheduler* scheduler_;
    QPointF pressed_;
    QPointF moved_;  ///< where a pan has got to
    Drag drag_ = Drag::none;
    bool dragging_ = false;
    bool doubled_ = false;             ///< the press that is to be released ended a double click
    std::int64_t selectedBefore_ = 0;  ///< before the first click of a double click
    std::weak_ptr<const void> runBefore_;
};

}  // namespace ui
