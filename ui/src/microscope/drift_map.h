#pragma once

#include <QImage>
#include <QStringList>

#include "microscope/exponent_axis.h"
#include "microscope/microscope_model.h"
#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

class PlotLink;

/// Steps by exponent: how the values of the selected layer drift during a run, before scaling.
/// Lines mark where FP16 loses them and where it overflows. GUI thread.
class DriftMap final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    DriftMap(const Theme* theme, PlotLink* link, MicroscopeModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void refresh();
    QRectF plot() const;
    double end() const;  ///< steps that the width stands for
    double xOf(double step) const;
    double yOf(double exponent) const;
    static QStringList notes();
    int notesColumn() const;
    void makeImage();
    void paintLines(QPainter& painter) const;
    void paintAxes(QPainter& painter) const;
    void paintNotes(QPainter& painter) const;
    void pick(double x);

    PlotLink* link_;
    MicroscopeModel* model_;
    QImage image_;
    bool stale_ = true;
};

}  // namespace ui
