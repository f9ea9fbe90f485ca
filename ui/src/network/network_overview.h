#pragma once

#include <QPixmap>

#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

class NetworkEditor;
class NetworkModel;

/// All layers after expansion, one row each: parameters to the left, the cost of the forward pass to
/// the right. A click selects the layer and the runs that it is in. GUI thread.
class NetworkOverview final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    NetworkOverview(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    QString spoken() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void measure();
    void paintAnew();
    QRectF rowArea(int row) const;
    /// The layer at the cursor's line, in the runs on show; -1: none.
    int currentRow() const;
    void choose(int row);
    void paintLayers(QPainter& painter) const;

    NetworkModel* model_;
    NetworkEditor* editor_;
    QPixmap layers_;  ///< as they were painted last; null: they have changed since
};

}  // namespace ui
