#pragma once

#include "engine/number/number_format.h"
#include "widgets/painted_widget.h"

namespace ui {

class NumberModel;

/// The ranges of the formats on a logarithmic line, and the number as a line to drag. The
/// background shows how the selected format represents each magnitude. ← and → halve and double.
class NumberLine final : public PaintedWidget {
    Q_OBJECT
public:
    NumberLine(const Theme* theme, NumberModel* model, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// Where the magnitude 2^exponent is drawn, and back.
    double xOf(double exponent) const;
    double exponentAt(double x) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRect area() const;
    void drag(double x);
    void paintZones(QPainter& painter) const;
    void paintRange(QPainter& painter, int row, const engine::NumberFormat& format) const;
    void paintAxis(QPainter& painter) const;
    void paintNumber(QPainter& painter) const;

    NumberModel* model_;
};

}  // namespace ui
