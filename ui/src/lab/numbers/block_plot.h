#pragma once

#include "widgets/painted_widget.h"

namespace ui {

class BlockModel;

/// The numbers of blocks on a logarithmic scale, each with the value of its code: drag one up, and
/// its neighbours sink to zero. ← and → choose a number, ↑ and ↓ double and halve it, Space turns
/// its sign.
class BlockPlot final : public PaintedWidget {
    Q_OBJECT
public:
    BlockPlot(const Theme* theme, BlockModel* model, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// The column of a number.
    QRectF columnRect(int index) const;
    double yOf(double exponent) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF area() const;
    void drag(double y);
    void describe();
    void paintAxis(QPainter& painter) const;
    void paintBlocks(QPainter& painter) const;
    void paintNumber(QPainter& painter, int index) const;

    BlockModel* model_;
};

}  // namespace ui
