#pragma once

#include "network/network_strip.h"

namespace ui {

struct NetworkView;

/// The network of the last text without a fault: the box of a layer stands at its line, and values
/// that later lines take run beside the boxes. Pale while the text has a fault.
class NetworkDrawing final : public NetworkStrip {
    Q_OBJECT
public:
    NetworkDrawing(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    QString spoken() const override;

protected:
    void paintHead(QPainter& painter, const QRect& head) override;
    void paintRows(QPainter& painter) override;
    void clicked(int line, const QPoint& at) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Layout;
    Layout layOut() const;
    void paintFrames(QPainter& painter, const Layout& layout) const;
    void paintRails(QPainter& painter, const Layout& layout) const;
    void paintBoxes(QPainter& painter, const Layout& layout) const;
    /// Brackets around layers that are computed in one operation.
    void paintFused(QPainter& painter, const Layout& layout) const;
    bool isLit(int line) const;
    QString about(int line) const override;

    int hovered_ = 0;  ///< line under the mouse, from 1
};

}  // namespace ui
