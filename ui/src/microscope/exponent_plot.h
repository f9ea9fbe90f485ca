#pragma once

#include <QPushButton>

#include "microscope/exponent_axis.h"
#include "microscope/microscope_model.h"
#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

/// The histogram of the selected layer at full size over the rulers of the number formats, with the
/// handle that slides gradients to another loss scale. Dragging repaints this widget alone. GUI
/// thread.
class ExponentPlot final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    ExponentPlot(const Theme* theme, MicroscopeModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

    /// Shares on a linear axis in place of a logarithmic one.
    void setLinear(bool linear);
    /// Where the handle is; empty without one.
    QRectF handle() const;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QRectF plot() const;
    int rowLabelWidth() const;  ///< of the names of the rulers and the shares
    int handleRow() const;      ///< height of the row above the columns
    int rulerHeight() const;
    /// Exponents at which values may have been rounded to zero unnoticed; empty if none were.
    QRectF lostZone() const;
    void placeButton();
    ExponentAxis axis() const;
    int rulersTop() const;
    FormatRulers rulers() const;
    /// Top of a column for this count of values.
    double y(double count) const;
    /// Where the bulk of the values lies before any scaling, as an exponent.
    double anchor() const;
    double handleX(double scale) const;
    void dragTo(double x);
    void describe();
    void paintZones(QPainter& painter) const;
    void paintBars(QPainter& painter) const;
    void paintHollow(QPainter& painter) const;
    void paintOutline(QPainter& painter) const;
    void paintHandle(QPainter& painter) const;
    void paintAxes(QPainter& painter) const;

    MicroscopeModel* model_;
    QPushButton* shadow_;  ///< in lostZone()
    bool linear_ = false;
    bool dragging_ = false;
};

}  // namespace ui
