#pragma once

#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

class NetworkEditor;
class NetworkModel;

/// Something beside the text, row beside row: it paints below its head what belongs to each line in
/// view. A click goes to the line; arrow keys move by one; the tooltip says what the row shows. GUI
/// thread.
class NetworkStrip : public PaintedWidget, public Spoken {
public:
    static int headHeight();

protected:
    NetworkStrip(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    /// Into the head.
    virtual void paintHead(QPainter& painter, const QRect& head) = 0;
    /// Into the area below it.
    virtual void paintRows(QPainter& painter) = 0;
    /// Calls `draw` for each line in view, with its area in this widget.
    void visitRows(const std::function<void(int line, const QRect& row)>& draw) const;
    /// The line at this height, from 1; 0: none.
    int rowAt(int y) const;
    /// Where a line begins, in this widget; 0: it is out of view.
    int rowTop(int line) const;
    virtual void clicked(int line, const QPoint& at);
    virtual void clickedHead(const QPoint&) {}
    /// The row of a line in words.
    virtual QString about(int line) const = 0;
    void speak();

    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

    NetworkModel* model_;
    NetworkEditor* editor_;

private:
    /// From the editor's viewport to this widget.
    int offset() const;
};

}  // namespace ui
