#pragma once

#include <memory>

#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

class RunTrack;

/// The loss scale of a whole run as a staircase the size of a button, with a red tick for each
/// skipped step. A click or a drag selects a step; a click on a tick also opens it. GUI thread.
class ScaleStrip final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    explicit ScaleStrip(const Theme* theme, QWidget* parent = nullptr);
    QString spoken() const override;

    /// Null: nothing is drawn.
    void setTrack(const std::shared_ptr<RunTrack>& track);
    /// 0: the newest one, which has no handle.
    void setSelected(std::int64_t step);

    /// Where a run without a scaler says so.
    QRect noneRect() const;

    /// The narrowest that can be read. It grows with the room, up to its maximum width.
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    /// A step from 1; 0: the newest one.
    void picked(std::int64_t step);
    /// A skipped step that was clicked.
    void opened(std::int64_t step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF inner() const;
    double steps() const;  ///< that the width stands for
    double xOf(double step) const;
    std::int64_t stepAt(double x) const;
    /// The skipped step whose tick is within a few pixels of x; 0: none.
    std::int64_t skipNear(double x) const;
    void paintScale(QPainter& painter) const;
    void paintSkips(QPainter& painter) const;
    void paintHandle(QPainter& painter) const;
    void paintNone(QPainter& painter) const;
    static QString noneText();

    std::shared_ptr<RunTrack> track_;
    std::int64_t selected_ = 0;
};

}  // namespace ui
