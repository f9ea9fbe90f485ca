#pragma once

#include <QList>
#include <QPointF>

#include "widgets/axis_marks.h"
#include "widgets/painted_widget.h"

namespace ui {

/// A curve that the learner draws: with the mouse, or with the arrow keys (left and right choose a
/// place, up and down move the curve there, Shift ten times as far). Delete clears it. GUI thread.
class CurveSketch final : public PaintedWidget {
    Q_OBJECT
public:
    /// Axes in steps and in the column's unit. A log axis needs yLow > 0.
    struct Axes {
        double xLow = 0, xHigh = 1;
        double yLow = 0, yHigh = 1;
        bool log = false;
        QString column;
    };
    CurveSketch(const Theme* theme, const Axes& axes, QWidget* parent = nullptr);

    /// Points by ascending step; empty: nothing was drawn.
    QList<QPointF> curve() const;
    void setCurve(const QList<QPointF>& curve);
    void clear();

    QSize sizeHint() const override;

signals:
    void drawn();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    static constexpr int columns = 64;
    QRectF plot() const;
    engine::Axis values() const;
    double value(double share) const;
    int columnAt(double x) const;
    void drawTo(const QPointF& at);
    void nudge(double by);

    Axes axes_;
    QList<double> shares_;  ///< height of each column in [0, 1]; NaN: not drawn
    int last_ = -1;         ///< column of the mouse's last point
    int cursor_ = 0;        ///< column that the keys move
};

}  // namespace ui
