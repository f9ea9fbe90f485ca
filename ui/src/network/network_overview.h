#pragma once

#include <QPixmap>
#include <utility>

#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

class NetworkEditor;
class NetworkModel;

/// All layers after expansion, one row each: parameters to the left, bytes kept for the backward pass
/// to the right. A frame stands around the uses and runs on show. A click selects the layer and the
/// runs that it is in; the row under the mouse is lit. GUI thread.
class NetworkOverview final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    NetworkOverview(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    QString spoken() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void measure();
    void paintAnew();
    QRectF rowArea(int row) const;
    /// The layer at this height; -1: none.
    int rowAt(double y) const;
    void hover(int row);
    QString about(int row) const;
    /// First and last layer of the innermost use or run around the current one that is not the whole
    /// network; none: {0, -1}.
    std::pair<int, int> shownUse() const;
    /// The layer at the cursor's line, in the runs on show; -1: none.
    int currentRow() const;
    void choose(int row);
    void paintLayers(QPainter& painter) const;

    NetworkModel* model_;
    NetworkEditor* editor_;
    int hovered_ = -1;
    QPixmap layers_;  ///< as they were painted last; null: they have changed since
};

}  // namespace ui
